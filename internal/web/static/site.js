import { themeChanged } from "./dom.js";

// Every page has these: the theme without a reload, and keys.

const root = document.documentElement;

function theme() {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-theme-form]"));
  const system = matchMedia("(prefers-color-scheme: dark)");
  const changed = () => { themeChanged(); dispatchEvent(new Event("assay-theme")); };
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const say = () => {
    const text = form?.querySelector(".live"), button = form?.querySelector("button");
    if (text) text.textContent = (dark() ? "light" : "dark") + " colours";
    if (button) button.value = dark() ? "light" : "dark";
  };
  system.addEventListener("change", () => { say(); changed(); });
  form?.addEventListener("submit", (e) => {
    e.preventDefault();
    const to = dark() ? "light" : "dark";
    const csrf = /** @type {HTMLInputElement} */ (form.querySelector("[name=csrf]")).value;
    root.dataset.theme = to;
    fetch("/theme", { method: "POST", body: new URLSearchParams({ csrf, theme: to }), redirect: "manual" }).catch(() => {});
    say();
    changed();
  });
  say();
}

// keys: j and k go through the rows of the list in which the focus is, or of the first one, / goes
// to the first field that filters, ? lists the keys. A chart or a table handles its own keys
// itself.
function keys() {
  const go = (/** @type {number} */ d) => {
    const old = /** @type {HTMLElement | null} */ (document.querySelector("tr[data-at]"));
    const list = document.activeElement?.closest("[data-rows]") ?? old?.closest("[data-rows]") ?? document.querySelector("[data-rows]");
    const all = /** @type {HTMLElement[]} */ ([...(list?.querySelectorAll("tbody tr") ?? [])]).filter((r) => r.offsetParent !== null);
    const to = all[Math.min(Math.max((old ? all.indexOf(old) : -1) + d, 0), all.length - 1)];
    if (!to) return;
    old?.removeAttribute("data-at");
    to.dataset.at = "";
    to.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */ (to.querySelector("a, button, input"))?.focus();
  };
  addEventListener("keydown", (e) => {
    const at = /** @type {Element | null} */ (e.target instanceof Element ? e.target : null);
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || at?.closest("input, textarea, select, dialog")) return;
    const field = /** @type {HTMLElement | null} */ (document.querySelector("[data-filter], .trials input"));
    const help = /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"));
    if (e.key === "j") go(1);
    else if (e.key === "k") go(-1);
    else if (e.key === "/" && field) field.focus();
    else if (e.key === "?" && help) help.showModal();
    else return;
    e.preventDefault();
  });
}

theme();
keys();
root.dataset.ready = "true";
