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
    .map((g) => ({ name: study.differs(g.k), runs: g.runs }));
}

// medians returns the rows whose configuration was run again, each with the number of runs and their median. For the
// answer, these are its own numbers.
/** @param {import("./study.js").Study} study @returns {Map<number, {runs: number, value: number}>} */
export function medians(study) {
  const t = study.trials, own = study.answer;
  /** @type {Map<number, number[]>} */
  const values = new Map();
  for (const a of study.again) {
    const k = study.row.get(a.trial), first = k === undefined ? null : t.value[k];
    if (k === undefined || first === null || a.value === null || a.state !== "done") continue;
    const list = values.get(k) ?? [first];
    list.push(a.value);
    values.set(k, list);
  }
  const out = new Map([...values].map(([k, list]) => [k, { runs: list.length, value: median(list) ?? 0 }]));
  const k = own ? study.row.get(own.trial) : undefined;
  if (own && own.runs > 1 && k !== undefined) out.set(k, { runs: own.runs, value: own.value });
  return out;
}

// spread returns the standard deviation of runs as a share of the value of their configuration, pooled over the groups.
/** @param {Group[]} groups */
export function spread(groups) {
  let sum = 0, free = 0;
  for (const g of groups) {
    const mean = g.runs.reduce((a, r) => a + r.value, 0) / g.runs.length;
    if (!mean) continue;
    for (const r of g.runs) sum += (r.value / mean - 1) ** 2;
    free += g.runs.length - 1;
  }
  return free > 0 ? Math.sqrt(sum / free) : null;
}

// ratios returns the runs in groups by the name that of() gives each, as parts of the median of
// their configuration, so that runs of different configurations can be compared. It leaves out
// runs without a name.
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
