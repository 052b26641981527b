// A code in the fragment of the address logs in: no server has seen it on the way here, and
// it is good once.
const code = /^#code=([A-Z0-9]+)$/i.exec(location.hash)?.[1];
const field = /** @type {HTMLInputElement | null} */ (document.getElementById("code"));
if (code && field?.form) {
  history.replaceState(null, "", location.pathname + location.search);
  field.value = code;
  field.form.submit();
}
