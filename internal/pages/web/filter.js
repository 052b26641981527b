// Which trials are meant: a condition for each column, written by a person or made by a brush.

// parse reads a condition on a number: "3", "2..8", ">= 2", "< 5", several with commas, "!" before
// it turns it round. It returns null for other text.
/** @param {string} text @returns {((x: Num) => boolean) | null} */
export function parseNumber(text) {
  const parts = text.split(",").map((t) => t.trim()).filter((t) => t !== "");
  if (parts.length === 0) return null;
  /** @type {((x: number) => boolean)[]} */
  const tests = [];
  for (let part of parts) {
    const not = part.startsWith("!");
    if (not) part = part.slice(1).trim();
    const one = parseOne(part.replace(/−/g, "-"));
    if (!one) return null;
    tests.push(not ? (x) => !one(x) : one);
  }
  return (x) => x !== null && tests.some((t) => t(x));
}

/** @param {string} text @returns {((x: number) => boolean) | null} */
function parseOne(text) {
  let m = /^(>=|<=|>|<|=|≥|≤)\s*(\S+)$/.exec(text);
  if (m) {
    const y = Number(m[2]);
    if (Number.isNaN(y)) return null;
    switch (m[1]) {
      case ">=": case "≥": return (x) => x >= y;
      case "<=": case "≤": return (x) => x <= y;
      case ">": return (x) => x > y;
      case "<": return (x) => x < y;
      default: return (x) => x === y;
    }
  }
  m = /^(\S*?)\.\.(\S*)$/.exec(text);
  if (m) {
    const lo = m[1] === "" ? -Infinity : Number(m[1]), hi = m[2] === "" ? Infinity : Number(m[2]);
    if (Number.isNaN(lo) || Number.isNaN(hi)) return null;
    return (x) => x >= lo && x <= hi;
  }
  const y = Number(text);
  if (text === "" || Number.isNaN(y)) return null;
  return (x) => x === y;
}

// parseText reads a condition on a text: one of several with commas, each a part of it in any
// case; "=" before it for the whole text, "!" to turn it round.
/** @param {string} text @returns {((s: string) => boolean) | null} */
export function parseText(text) {
  const parts = text.split(",").map((t) => t.trim().toLowerCase()).filter((t) => t !== "" && t !== "!" && t !== "=");
  if (parts.length === 0) return null;
  const test = (/** @type {string} */ part, /** @type {string} */ s) => (part.startsWith("=") ? s === part.slice(1) : s.includes(part));
  return (s) => {
    s = s.toLowerCase();
    return parts.some((p) => (p.startsWith("!") ? !test(p.slice(1), s) : test(p, s)));
  };
}

// A Selection is the conditions of all columns, which charts and the table share. test(k) of a
// condition reports whether the k-th trial is meant.
export class Selection {
  /** @param {{n: number, version: number}} study */
  constructor(study) {
    this.study = study;
    this.version = -1;
    this.conditions = /** @type {Map<string, Condition>} */ (new Map());
    this.listeners = /** @type {(() => void)[]} */ ([]);
    this.cache = /** @type {Uint8Array | null} */ (null);
  }

  // set puts a condition on a column; null takes it away.
  /** @param {string} key @param {Condition | null} condition */
  set(key, condition) {
    if (condition) this.conditions.set(key, condition);
    else this.conditions.delete(key);
    this.cache = null;
    for (const f of this.listeners) f();
  }

  clear() {
    this.conditions.clear();
    this.cache = null;
    for (const f of this.listeners) f();
  }

  /** @param {string} key */
  text(key) { return this.conditions.get(key)?.text ?? ""; }

  /** @param {() => void} f */
  listen(f) { this.listeners.push(f); }

  get empty() { return this.conditions.size === 0; }

  // mask returns for each trial whether all conditions hold.
  mask() {
    if (this.cache && this.version === this.study.version) return this.cache;
    this.version = this.study.version;
    const tests = [...this.conditions.values()].map((c) => c.test);
    const mask = new Uint8Array(this.study.n);
    for (let k = 0; k < this.study.n; k++) mask[k] = tests.every((t) => t(k)) ? 1 : 0;
    this.cache = mask;
    return mask;
  }

  size() { return this.mask().reduce((a, b) => a + b, 0); }
}
