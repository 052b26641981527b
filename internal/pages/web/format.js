// Numbers for people, as the command line writes them (package report): at most three
// significant digits, and the minus U+2212. All are pure.

/** @type {[string, number][]} */
const times = [["ns", 1e-9], ["µs", 1e-6], ["ms", 1e-3], ["s", 1], ["min", 60], ["h", 3600], ["d", 86400]];
/** @type {[string, number][]} */
const clock = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
/** @type {[string, number][]} */
const prefixes = [
  ["p", 1e-12], ["n", 1e-9], ["µ", 1e-6], ["m", 1e-3], ["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9],
  ["T", 1e12], ["P", 1e15], ["E", 1e18],
];

/** @param {number} x @param {number} digits */
export function round(x, digits) { return Number(x.toExponential(digits - 1)); }

/** @param {string} text */
const minus = (text) => text.replace("-", "−");
/** @param {number} x */
const sign = (x) => (x < 0 ? "−" : "");

// decimal writes a number that needs no exponent in all its digits.
/** @param {number} x */
function decimal(x) {
  const text = String(x);
  if (!text.includes("e")) return text;
  return x.toFixed(12).replace(/\.?0+$/, "");
}

/** @param {Num} x */
export function number(x, digits = 4) {
  if (x === null || Number.isNaN(x)) return "n/a";
  if (!Number.isFinite(x)) return sign(x) + "∞";
  if (x === 0) return "0";
  x = round(x, digits);
  const a = Math.abs(x);
  if (a < 1e-5 || a >= 1e9) {
    const [mantissa, exponent] = a.toExponential(digits - 1).split("e");
    const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
    return sign(x) + short + "e" + minus(String(Number(exponent)));
  }
  return minus(decimal(x));
}

/** @param {number} x @param {[string, number][]} scales */
function unitFor(x, scales) {
  let u = scales[0];
  for (const s of scales) if (Math.abs(x) >= s[1] * (1 - 1e-9)) u = s;
  return u;
}

/** @param {Num} s */
export function seconds(s) {
  if (s === 0 || s === null || !Number.isFinite(s)) return number(s, 3) + " s";
  let a = round(Math.abs(s), 3);
  if (a < 60) {
    const u = unitFor(a, times.slice(0, 4));
    return sign(s) + number(a / u[1], 3) + " " + u[0];
  }
  a = Math.abs(s);
  let i = 0;
  while (i < clock.length - 2 && Math.round(a / clock[i + 1][1]) * clock[i + 1][1] < clock[i][1]) i++;
  const big = clock[i], small = clock[i + 1];
  const n = Math.round(a / small[1]), per = Math.round(big[1] / small[1]);
  const rest = n % per;
  return sign(s) + Math.floor(n / per) + " " + big[0] + (rest > 0 ? " " + rest + " " + small[0] : "");
}

/** @param {Num} x @param {string} unit */
export function si(x, unit) {
  if (unit === "s") return seconds(x);
  if (!unit) return number(x, 3);
  if (x === 0 || x === null || !Number.isFinite(x)) return number(x, 3) + " " + unit;
  let scales = unit.startsWith("B") ? prefixes.slice(4) : prefixes;
  if (/[%0-9 ]/.test(unit)) scales = prefixes.slice(4, 5);
  const u = unitFor(round(x, 3), scales);
  return number(x / u[1], 3) + " " + u[0] + unit;
}

// metric returns the value of a metric in its unit; a time in parts, and "" is a plain number.
/** @param {Num | undefined} x @param {string} [unit] */
export function metric(x, unit) {
  if (x === null || x === undefined) return "–";
  return unit ? si(x, unit) : number(x, 4);
}

/** @param {number} fraction */
export function percent(fraction) {
  return (fraction > 0 ? "+" : "") + number(100 * fraction, 3) + " %";
}

// count writes a whole number with spaces between thousands.
/** @param {number} n */
export function count(n) { return String(n).replace(/\B(?=(\d{3})+$)/g, " "); }

// money writes an amount in the unit of the price.
/** @param {Num} x */
export function money(x) {
  if (x === null) return "–";
  return Math.abs(x) >= 0.01 ? minus(x.toFixed(2)) : number(x, 2);
}
