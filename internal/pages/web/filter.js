// Which trials are meant: a condition for each column, written by a person or made by a brush.

// parse reads a condition on a number: "3", "2..8", ">= 2", "< 5", several with commas, "!" before
// it turns it round. It returns null for what is none.
export function parseNumber(text) {
  const parts = text.split(",").map((t) => t.trim()).filter((t) => t !== "");
  if (parts.length === 0) return null;
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

function parseOne(text) {
  let m = /^(>=|<=|>|<|=|≥|≤)\s*(\S+)$/.exec(text);
  if (m) {
    const y = Number(m[2]);
    if (Number.isNaN(y)) return null;
    return { ">=": (x) => x >= y, "≥": (x) => x >= y, "<=": (x) => x <= y, "≤": (x) => x <= y, ">": (x) => x > y,
      "<": (x) => x < y, "=": (x) => x === y }[m[1]];
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
export function parseText(text) {
  const parts = text.split(",").map((t) => t.trim().toLowerCase()).filter((t) => t !== "" && t !== "!" && t !== "=");
  if (parts.length === 0) return null;
  const test = (part, s) => (part.startsWith("=") ? s === part.slice(1) : s.includes(part));
  return (s) => {
    s = s.toLowerCase();
    return parts.some((p) => (p.startsWith("!") ? !test(p.slice(1), s) : test(p, s)));
  };
}

// A Selection is the conditions of all columns, which charts and the table share. test(k) of a
// condition says whether the k-th trial is meant.
export class Selection {
  constructor(n) {
    this.n = n;
    this.conditions = new Map(); // key: {text, test}
    this.listeners = [];
    this.cache = null;
  }

  // set puts a condition on a column; null takes it away.
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

  text(key) { return this.conditions.get(key)?.text ?? ""; }

  listen(f) { this.listeners.push(f); }

  // mask returns for each trial whether all conditions hold.
  mask() {
    if (this.cache) return this.cache;
    const tests = [...this.conditions.values()].map((c) => c.test);
    const mask = new Uint8Array(this.n);
    for (let k = 0; k < this.n; k++) mask[k] = tests.every((t) => t(k)) ? 1 : 0;
    this.cache = mask;
    return mask;
  }

  size() { return this.mask().reduce((a, b) => a + b, 0); }
}
