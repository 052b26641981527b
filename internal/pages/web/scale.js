// Scales: from data to pixels and back, and where their ticks are. All are pure.

// linear maps lo..hi to from..to. If lo and hi are one, it maps that to the middle. Ticks are about
// n; in the unit "s" they are at whole minutes and hours.
/** @param {number} lo @param {number} hi @param {number} from @param {number} to @returns {Scale} */
export function linear(lo, hi, from, to) {
  const wide = hi > lo;
  const scale = (/** @type {number} */ x) => (wide ? from + ((x - lo) / (hi - lo)) * (to - from) : (from + to) / 2);
  scale.invert = (/** @type {number} */ p) => (wide && to !== from ? lo + ((p - from) / (to - from)) * (hi - lo) : lo);
  scale.ticks = (/** @type {number} */ n, unit = "") => (unit === "s" ? timeTicks(lo, hi, n) : linearTicks(lo, hi, n));
  scale.lo = lo;
  scale.hi = hi;
  return scale;
}

// log is linear in the logarithm; lo must be positive.
/** @param {number} lo @param {number} hi @param {number} from @param {number} to @returns {Scale} */
export function log(lo, hi, from, to) {
  const inner = linear(Math.log(lo), Math.log(hi), from, to);
  const scale = (/** @type {number} */ x) => inner(Math.log(x));
  scale.invert = (/** @type {number} */ p) => Math.exp(inner.invert(p));
  scale.ticks = (/** @type {number} */ n) => logTicks(lo, hi, n);
  scale.lo = lo;
  scale.hi = hi;
  return scale;
}

// step returns the least of 1, 2, 5, 10, ... times a power of ten that divides a range into at
// most n parts.
/** @param {number} range @param {number} n */
export function step(range, n) {
  const raw = range / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const m of [1, 2, 5, 10]) if (m * power >= raw * (1 - 1e-9)) return m * power;
  return 10 * power;
}

// linearTicks are about n multiples of 1, 2 or 5 times a power of ten, and at least two.
/** @param {number} lo @param {number} hi @param {number} n */
export function linearTicks(lo, hi, n) {
  if (!(hi > lo)) return [lo];
  return atLeastTwo(n, (parts) => multiples(lo, hi, step(hi - lo, parts)));
}

/** @param {number} n @param {(parts: number) => number[]} ticks */
function atLeastTwo(n, ticks) {
  for (let parts = n; parts < 4 * n; parts++) {
    const out = ticks(parts);
    if (out.length > 1) return out;
  }
  return ticks(n);
}

/** @param {number} lo @param {number} hi @param {number} by */
function multiples(lo, hi, by) {
  const out = [];
  for (let k = Math.ceil(lo / by - 1e-9); k * by <= hi * (1 + 1e-12) + by * 1e-9; k++) {
    out.push(Number((k * by).toPrecision(12)));
  }
  return out;
}

const clockSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

// timeTicks are ticks of a range in seconds, at whole minutes, hours or days where it is long.
/** @param {number} lo @param {number} hi @param {number} n */
export function timeTicks(lo, hi, n) {
  const raw = (hi - lo) / Math.max(1, n);
  if (!(hi > lo) || raw < 1 || raw > 86400) return linearTicks(lo, hi, n);
  return atLeastTwo(n, (parts) => multiples(lo, hi, clockSteps.find((s) => s >= ((hi - lo) / parts) * (1 - 1e-9)) ?? 86400));
}

// logTicks are powers of ten, with 2 and 5 times them where there are few, and as in a linear
// scale where there is no power of ten between lo and hi.
/** @param {number} lo @param {number} hi @param {number} n @returns {number[]} */
export function logTicks(lo, hi, n) {
  if (!(hi > lo)) return [lo];
  const from = Math.floor(Math.log10(lo)), to = Math.ceil(Math.log10(hi));
  const decades = to - from;
  const every = Math.max(1, Math.ceil(decades / Math.max(2, n)));
  for (const of of [[1], [1, 3], [1, 2, 5]].reverse()) {
    const out = [];
    for (let e = from; e <= to; e += every) {
      for (const m of every > 1 ? [1] : of) {
        const x = Number((m * 10 ** e).toPrecision(12));
        if (x >= lo * (1 - 1e-9) && x <= hi * (1 + 1e-9)) out.push(x);
      }
    }
    if (out.length <= n || of.length === 1) return out.length > 1 ? out : linearTicks(lo, hi, n);
  }
  return [];
}

// padded returns the range of values with a margin on both sides, so that no mark is cut.
/** @param {Num[]} values @param {boolean} isLog @returns {[number, number]} */
export function padded(values, isLog, share = 0.05) {
  let lo = Infinity, hi = -Infinity;
  for (const x of values) {
    if (x === null || !Number.isFinite(x)) continue;
    lo = Math.min(lo, x);
    hi = Math.max(hi, x);
  }
  if (lo > hi) return isLog ? [1, 10] : [0, 1];
  if (isLog) {
    const f = Math.max((hi / lo) ** share, 1.02);
    return [lo / f, hi * f];
  }
  const pad = hi > lo ? (hi - lo) * share : Math.abs(hi) * 0.1 || 1;
  return [lo >= 0 && lo - pad < 0 ? 0 : lo - pad, hi + pad];
}
