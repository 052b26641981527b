import { el } from "./dom.js";

// Texts that are made to be copied get a button for it.
for (const pre of document.querySelectorAll("[data-copy]")) {
  pre.before(el("button", { type: "button", class: "copy", onclick: (/** @type {any} */ e) => {
    navigator.clipboard?.writeText(pre.textContent).then(() => { e.target.textContent = "copied"; }, () => {});
  } }, "copy"));
}
