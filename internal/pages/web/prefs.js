// This browser keeps the reader's choices. They last as long as the page if it has no place for
// them.

/** @type {Map<string, unknown>} */
const kept = new Map();

// recall returns the value kept under a name if it is of the kind of otherwise, else otherwise.
/** @template T @param {string} name @param {T} otherwise @returns {T} */
export function recall(name, otherwise) {
  let v = kept.get(name);
  try {
    const text = localStorage.getItem("assay." + name);
    if (text !== null) v = JSON.parse(text);
  } catch {} // a file that is opened has none, a person may refuse it, and others may write to it
  return v !== null && typeof v === typeof otherwise && Array.isArray(v) === Array.isArray(otherwise) ? /** @type {T} */ (v) : otherwise;
}

// keep keeps a value under a name.
/** @param {string} name @param {unknown} v */
export function keep(name, v) {
  kept.set(name, v);
  try {
    localStorage.setItem("assay." + name, JSON.stringify(v));
  } catch {} // as above
}
