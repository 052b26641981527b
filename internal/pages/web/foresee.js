// The expected end of a run that goes on, by how long the trials like it took.

/** @typedef {{time: number, ended: boolean}} Seen how long a run took; ended is false if it was cut off then */

// mostLike is the share of the trials of which a run is expected to be one, and leastLike how many
// there are at least.
const mostLike = 0.2, leastLike = 24;

// alike returns how long the trials took whose configurations are most like a row's, of all if
// there are few.
/** @param {import("./study.js").Study} study @param {number} row @returns {Seen[]} */
export function alike(study, row) {
  const t = study.trials;
  /** @type {{time: number, ended: boolean, far: number}[]} */
  const all = [];
  for (let k = 0; k < study.n; k++) {
    const time = t.elapsed_s[k], ended = t.state[k] === "done" || t.state[k] === "infeasible";
    if (k !== row && time !== null && time > 0 && (ended || t.state[k] === "censored")) all.push({ time, ended, far: distance(study, row, k) });
  }
  all.sort((a, b) => a.far - b.far);
  return all.slice(0, Math.max(leastLike, Math.ceil(mostLike * all.length))).sort((a, b) => a.time - b.time);
}

// distance returns how far two rows are from each other, as a sum over the parameters.
/** @param {import("./study.js").Study} study @param {number} a @param {number} b */
function distance(study, a, b) {
  let sum = 0;
  for (const [i, p] of study.params.entries()) {
    const x = study.trials.config[i][a], y = study.trials.config[i][b];
    if (x === y) continue;
    if (x === null || y === null || p.kind === "categorical" || p.kind === "bool" || p.kind === "permutation") sum += 1;
    else if (p.log && p.lo > 0) sum += Math.abs(Math.log(x / y)) / Math.log(p.hi / p.lo);
    else if (p.hi > p.lo) sum += Math.abs(x - y) / (p.hi - p.lo);
  }
  return sum;
}

// foresee returns when a run that has lasted for ran ends: the middle of those that lasted longer, and
// the time before which one in ten of them ended and after which one in ten did. A run that was cut
// off counts as one that would have ended later (Kaplan and Meier). null if fewer than five lasted
// longer; high is null if more than one in ten of them was cut off later than all ends.
/** @param {Seen[]} seen by time @param {number} ran @returns {{low: number, mid: number, high: Num} | null} */
export function foresee(seen, ran) {
  const later = seen.filter((s) => s.time > ran);
  if (later.filter((s) => s.ended).length < 5) return null;
  let left = later.length, alive = 1;
  /** @type {Record<string, Num>} */
  const at = { 0.1: null, 0.5: null, 0.9: null };
  for (const s of later) {
    if (s.ended) alive *= 1 - 1 / left;
    left--;
    for (const q of [0.1, 0.5, 0.9]) if (at[q] === null && s.ended && alive <= 1 - q + 1e-9) at[q] = s.time;
  }
  return at[0.5] === null || at[0.1] === null ? null : { low: at[0.1], mid: at[0.5], high: at[0.9] };
}
