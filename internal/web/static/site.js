import { themeChanged } from "./dom.js";

// What every page has: the theme without a reload, keys, and times that go on.

const root = document.documentElement;

function theme() {
  const form = document.querySelector("[data-theme-form]");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const changed = () => { themeChanged(); dispatchEvent(new Event("assay-theme")); };
  system.addEventListener("change", changed);
  form?.addEventListener("submit", (e) => {
    e.preventDefault();
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    const button = form.querySelector("button"), to = dark ? "light" : "dark";
    root.dataset.theme = to;
    button.querySelector(".live").textContent = (dark ? "dark" : "light") + " colours";
    const data = new URLSearchParams(new FormData(form));
    data.set("theme", to);
    fetch("/theme", { method: "POST", body: data, redirect: "manual" }).catch(() => {});
    changed();
  });
}

// keys: j and k go through the rows of the first list, Enter follows the first link of one, / goes
// to the first field that filters, ? says which keys there are.
function keys() {
  const rows = () => [...document.querySelectorAll("[data-rows] tbody tr")].filter((r) => r.offsetParent !== null);
  const at = () => document.querySelector("tr[data-at]");
  const go = (d) => {
    const all = rows(), was = all.indexOf(at());
    const to = all[Math.min(Math.max(was + d, 0), all.length - 1)];
    if (!to) return;
    at()?.removeAttribute("data-at");
    to.dataset.at = "";
    to.scrollIntoView({ block: "nearest" });
    (to.querySelector("a, button, input") ?? to).focus();
  };
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, [contenteditable]")) return;
    if (e.key === "j") go(1);
    else if (e.key === "k") go(-1);
    else if (e.key === "/") {
      const field = document.querySelector("[data-filter], .trials input");
      if (!field) return;
      field.focus();
    } else if (e.key === "?") document.getElementById("keys")?.showModal();
    else return;
    e.preventDefault();
  });
}

theme();
keys();
root.dataset.ready = "true";
