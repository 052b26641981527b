// The page selects the text of the study file at its error.
const at = /^[^:]*study\.yaml:(\d+)(?::(\d+))?/.exec(document.getElementById("wrong")?.textContent.replace("× ", "") ?? "");
if (at) {
  const field = /** @type {HTMLTextAreaElement} */ (document.getElementById("file")), lines = field.value.split("\n");
  const line = Math.min(Number(at[1]), lines.length) - 1;
  const begin = lines.slice(0, line).reduce((n, l) => n + l.length + 1, 0) + Math.max(0, Number(at[2] ?? 1) - 1);
  field.focus();
  field.setSelectionRange(begin, begin - Math.max(0, Number(at[2] ?? 1) - 1) + lines[line].length);
}
