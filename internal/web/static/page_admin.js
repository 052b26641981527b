// The audit is filtered as one types; without a script the form asks the server.
const field = document.querySelector("[data-filter]");
const rows = document.getElementById(field?.dataset.filter ?? "");
field?.addEventListener("input", () => {
  const text = field.value.trim().toLowerCase();
  for (const r of rows?.children ?? []) r.hidden = !r.textContent.toLowerCase().includes(text);
});
