import { again } from "./again.js";
import { contour } from "./contour.js";
import { copyable, themeChanged } from "./dom.js";
import { Selection } from "./filter.js";
import { front } from "./front.js";
import { history } from "./history.js";
import { importance } from "./importance.js";
import { noise } from "./noise.js";
import { parallel } from "./parallel.js";
import { slices } from "./slices.js";
import { space } from "./space.js";
import { spent } from "./spent.js";
import { Study } from "./study.js";
import { table } from "./table.js";
import { timeline } from "./timeline.js";

/** @typedef {(place: HTMLElement, i: number) => Chart} Maker */

// The data of the page stand in an element that is no script. The page places the charts:
// data-draw is the name of a chart, data-study the number of a study.
function start() {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "");
  /** @type {Study[]} */
  const studies = data.studies.map((/** @type {StudyData} */ s) => new Study(s));
  const selections = studies.map((s) => new Selection(s));
  /** @type {Record<string, Maker>} */
  const charts = {
    history: (place, i) => history(place, [studies[i]], selections[i]),
    together: (place) => history(place, studies),
    importance: (place, i) => importance(place, studies[i]),
    slices: (place, i) => slices(place, studies[i]),
    contour: (place, i) => contour(place, studies[i]),
    timeline: (place, i) => timeline(place, studies[i]),
    parallel: (place, i) => parallel(place, studies[i], selections[i]),
    again: (place, i) => again(place, studies[i]),
    front: (place, i) => front(place, studies[i], selections[i]),
    noise: (place, i) => noise(place, studies[i]),
    space: (place, i) => space(place, studies[i]),
    spent: (place, i) => spent(place, studies[i]),
    table: (place, i) => table(place, studies[i], selections[i]),
  };
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-draw]"))) {
    place.replaceChildren();
    charts[place.dataset.draw ?? ""](place, Number(place.dataset.study ?? 0));
  }
  for (const pre of document.querySelectorAll("pre[data-copy]")) copyable(pre);
  theme();
  document.documentElement.dataset.ready = "true";
}

// theme lets a reader choose colours; the default is the system's.
function theme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("theme"));
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const say = () => { button.textContent = isDark() ? "light colours" : "dark colours"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    say();
    themeChanged();
  });
  dark.addEventListener("change", () => { say(); themeChanged(); });
  say();
}

start();
