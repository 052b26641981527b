// Lengths of time as they are written for the server: 90s, 1h30m.

/** @type {Record<string, number>} */
const units = { h: 3600, m: 60, s: 1, ms: 1e-3 };

// toSeconds returns a written length of time in seconds, null for other text. A number alone
// has no unit and so gives null, as on the command line.
/** @param {string} text @returns {Num} */
export function toSeconds(text) {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s)/gy)];
  if (parts.length === 0 || parts.map((p) => p[0]).join("") !== text.trim()) return null;
  return parts.reduce((sum, [, x, unit]) => sum + Number(x) * units[unit], 0);
}

// duration writes seconds as the server reads them, with three digits.
/** @param {number} seconds @returns {string} */
export function duration(seconds) {
  const s = Number(seconds.toPrecision(3));
  if (s < 60) return s + "s";
  const whole = Math.round(s), h = Math.floor(whole / 3600), m = Math.floor((whole % 3600) / 60), rest = whole % 60;
  return (h ? h + "h" : "") + (m ? m + "m" : "") + (rest ? rest + "s" : "") || "0s";
}
