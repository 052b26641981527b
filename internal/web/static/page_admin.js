// The audit is filtered as one types; without a script the form asks the server.
export {};
const field = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-filter]"));
const rows = document.getElementById(field?.dataset.filter ?? "");
field?.addEventListener("input", () => {
  const text = (field.value ?? "").trim().toLowerCase();
  for (const r of /** @type {HTMLElement[]} */ ([...(rows?.children ?? [])])) r.hidden = !r.textContent.toLowerCase().includes(text);
});
