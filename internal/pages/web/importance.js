import { el, grid, Tabled } from "./dom.js";
import { number, percent } from "./format.js";
import { visible } from "./study.js";

// importance lists the parameters by how far they move the metric, with the effect of the value at the best.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @returns {Chart} */
export function importance(place, study) {
  const e = /** @type {Explained} */ (study.explain);
  const size = (/** @type {number} */ x) => (e.relative ? Math.expm1(x) : x);
  const say = (/** @type {number} */ x) => (e.relative ? percent(size(x)) : (x > 0 ? "+" : "") + study.say(x)).replace(/^[+−-]/, "");
  const most = Math.max(...e.parameters.map((p) => Math.abs(p.importance)), 1e-300);
  const effect = (/** @type {Explained["parameters"][0]} */ p) => (p.value === null ? "not active at the best"
    : `${visible(String(p.value))} ${p.effect < 0 ? "lowers" : "raises"} ${study.metric} by ${say(p.effect)}`);
  const list = el("div", { class: "bars", role: "list", "aria-label": "parameters by importance", tabIndex: 0 }, ...e.parameters.map((p) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = Math.max(0.5, (100 * Math.abs(p.importance)) / most) + "%";
    return el("div", { class: "barrow", role: "listitem", title: `explains ${number(100 * p.main_effect, 2)} % alone` },
      el("span", { class: "name" }, visible(p.name)), el("span", { class: "track" }, fill), el("span", { class: "num" }, "±" + say(p.importance)),
      el("span", { class: "what" }, effect(p)));
  }));
  place.append(list);
  new Tabled(place, "importance", () => grid(["parameter", "at the best", "importance", "explains alone"],
    e.parameters.map((p) => [visible(p.name), effect(p), "±" + say(p.importance), number(100 * p.main_effect, 2) + " %"]), "llrr"));
  return { update() {} };
}
