import { curve } from "./curve.js";
import { levels } from "./levels.js";
import { duration, toSeconds } from "./spans.js";

// The page of plans: the plan that the server has made is drawn. The deadline in the form and the
// line in the chart are one: typing moves the line, and dragging the line fills in the form.

/** @param {string} name @returns {HTMLElement | null} */
const at = (name) => document.querySelector(`[data-draw=${name}]`);

const data = document.getElementById("plan");
const chart = at("curve"), below = at("levels");
if (data && chart && below) {
  const { plan, graph } = JSON.parse(data.textContent ?? "");
  /** @type {HTMLInputElement | null} */
  const field = document.querySelector("[data-deadline]");
  const drawn = curve(chart, plan, {
    deadline: field ? toSeconds(field.value) : null,
    moved: (d) => { if (field) field.value = d === null ? "" : duration(d); },
  });
  field?.addEventListener("input", () => {
    const d = toSeconds(field.value);
    field.setAttribute("aria-invalid", String(d === null && field.value.trim() !== ""));
    drawn.deadline(d);
  });
  levels(below, { ...plan, graph });
  // The tables of the charts stand below them already, without a script.
  for (const e of document.querySelectorAll("[data-draw] > details")) e.remove();
}
document.documentElement.dataset.drawn = "true";
