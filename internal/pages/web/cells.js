import { number } from "./format.js";

/** @typedef {{text: string, lo: number, hi: number, trials: number, best: Num, top: boolean, cut: Cut | null}} Cell */

const bins = 20;

// cells returns the values of the i-th parameter, or parts of its range, with how many trials had
// them, the best value of the metric among these, whether the best trial of all is in them, and
// the cut that has pruned them, unless they are back.
/** @param {import("./study.js").Study} study @param {number} i @returns {Cell[]} */
export function cells(study, i) {
  const p = study.params[i], t = study.trials;
  const out = parts(p);
  const index = (/** @type {number} */ x) => {
    if (p.levels) return x;
    let k = out.findIndex((c) => x < c.hi);
    if (k < 0) k = out.length - 1;
    return k;
  };
  for (let k = 0; k < study.n; k++) {
    const x = t.config[i][k], v = t.value[k], c = x === null ? undefined : out[index(x)];
    if (!c) continue;
    c.trials++;
    if (t.state[k] === "done" && v !== null && (c.best === null || study.better(v, c.best))) c.best = v;
    if (k === study.bestRow) c.top = true;
  }
  for (const cut of study.cuts) {
    if (cut.param !== p.name) continue;
    for (const c of out) if (cut.values.some((text) => covers(p, c, text))) c.cut = cut.restored ? null : cut;
  }
  return out;
}

/** @param {Param} p @returns {Cell[]} */
function parts(p) {
  const none = { trials: 0, best: null, top: false, cut: null };
  if (p.levels) return p.levels.map((text, k) => ({ text, lo: k, hi: k, ...none }));
  const isLog = p.log && p.lo > 0, whole = p.kind === "int", end = whole ? p.hi + 1 : p.hi;
  const at = (/** @type {number} */ k) => (isLog ? p.lo * (end / p.lo) ** (k / bins) : p.lo + ((end - p.lo) * k) / bins);
  if (whole) {
    const from = [...new Set(Array.from({ length: bins }, (_, k) => Math.round(at(k) + 1e-9)))];
    return from.map((lo, k) => {
      const hi = from[k + 1] ?? end;
      return { text: hi - lo === 1 ? number(lo, 12) : `${number(lo, 12)} to ${number(hi - 1, 12)}`, lo, hi, ...none };
    });
  }
  const n = p.hi > p.lo ? bins : 1;
  return Array.from({ length: n }, (_, k) => ({ text: `${number(at(k), 3)} to ${number(at(k + 1), 3)}`, lo: at(k), hi: at(k + 1), ...none }));
}

// covers reports whether the text of a cut, a value or a range "4..7", means most of a cell.
/** @param {Param} p @param {Cell} c @param {string} text */
function covers(p, c, text) {
  if (p.levels) return c.text === text;
  const m = /^(.*?)\.\.(.*)$/.exec(text), from = Number(m ? m[1] : text), to = Number(m ? m[2] : text);
  if (p.kind === "int") return from <= (c.lo + c.hi - 1) / 2 && (c.lo + c.hi - 1) / 2 <= to;
  return from <= (c.lo + c.hi) / 2 && (c.lo + c.hi) / 2 <= to;
}
