import { median } from "./again.js";

/** @typedef {{trial: number, value: number, nth: number, worker: string, class: string}} Run */
/** @typedef {{name: string, runs: Run[]}} Group */

// repeated returns the configurations that were run more than once, with their runs in order, the
// most often run first: trials of one configuration, and the runs that repeat a trial.
/** @param {import("./study.js").Study} study @returns {Group[]} */
export function repeated(study) {
  const t = study.trials;
  /** @type {Map<string, {k: number, runs: Run[]}>} */
  const groups = new Map();
  const key = (/** @type {number} */ k) => {
    let text = "";
    for (const list of t.config) text += list[k] + " ";
    return text;
  };
  const add = (/** @type {number} */ k, /** @type {number} */ value, worker = "", cls = "") => {
    const id = key(k);
    let g = groups.get(id);
    if (!g) groups.set(id, g = { k, runs: [] });
    g.runs.push({ trial: t.id[k], value, nth: g.runs.length + 1, worker, class: cls });
  };
  for (const k of study.ended) {
    const v = t.value[k];
    if (v !== null && (t.state[k] === "done" || t.state[k] === "infeasible")) add(k, v, t.worker[k], t.class[k]);
  }
  for (const a of study.again) {
    const k = study.row.get(a.trial);
    if (k !== undefined && a.value !== null && (a.state === "done" || a.state === "infeasible")) add(k, a.value, a.worker, a.class);
  }
  return [...groups.values()].filter((g) => g.runs.length > 1).sort((a, b) => b.runs.length - a.runs.length)
    .map((g) => ({ name: study.config(g.k), runs: g.runs }));
}

// ratios returns the runs in groups by what of() says of each, as parts of the median of their
// configuration, so that runs of different configurations can be compared. Runs of which it says
// nothing are left out.
/** @param {Group[]} groups @param {(r: Run) => string} of @returns {Group[]} */
export function ratios(groups, of) {
  /** @type {Map<string, Group>} */
  const out = new Map();
  for (const g of groups) {
    const middle = median(g.runs.map((r) => r.value));
    if (!middle) continue;
    for (const r of g.runs) {
      const name = of(r);
      if (name === "") continue;
      let o = out.get(name);
      if (!o) out.set(name, o = { name, runs: [] });
      o.runs.push({ ...r, value: r.value / middle });
    }
  }
  return [...out.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}
