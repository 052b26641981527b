import { again } from "./again.js";
import { contour } from "./contour.js";
import { curve } from "./curve.js";
import { themeChanged } from "./dom.js";
import { Selection } from "./filter.js";
import { front } from "./front.js";
import { history } from "./history.js";
import { levels } from "./levels.js";
import { noise } from "./noise.js";
import { occupancy } from "./occupancy.js";
import { parallel } from "./parallel.js";
import { slices } from "./slices.js";
import { space } from "./space.js";
import { table } from "./table.js";
import { timeline } from "./timeline.js";
import { plan, predicted, study } from "./fixture.js";

// A test draws these charts of a study that is the same every time, each in a place of its own.

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);

const place = (name) => {
  const box = document.createElement("section"), title = document.createElement("h2");
  title.textContent = name;
  box.id = name;
  box.className = "card";
  box.append(title);
  document.querySelector("main").append(box);
  return box;
};

const makers = {
  history: (at, s, sel) => history(at, [s], sel), parallel, front, noise, space, again, table, slices, contour, timeline,
  curve: (at) => curve(at, plan()), levels: (at) => levels(at, plan()), occupancy: (at) => occupancy(at, predicted),
};

// draw draws charts of a study of n trials, in a page that is empty, and returns how long that took.
window.draw = (n, names = Object.keys(makers), change = () => {}) => {
  document.querySelector("main").replaceChildren();
  localStorage.clear();
  const begun = performance.now();
  const s = study(n), made = performance.now();
  change(s);
  const selection = new Selection(s), charts = {};
  const took = { made: made - begun };
  for (const name of names) {
    const from = performance.now();
    charts[name] = makers[name](place(name), s, selection);
    took[name] = performance.now() - from;
  }
  Object.assign(window, { s, selection, charts });
  return took;
};

// painted is drawn, and waits until the browser has painted.
window.painted = async (n, names) => {
  const begun = performance.now();
  window.draw(n, names);
  await new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(ok, 0))));
  return performance.now() - begun;
};

// print is a chart as 32 times 16 numbers: how much its parts differ from the background, from 0
// to 255. Letters that another machine draws otherwise hardly change it, a mark that is elsewhere does.
window.print = (name, across = 32, down = 16) => {
  const c = document.querySelector(`#${name} canvas[role=img]`), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  const sum = new Array(across * down).fill(0), n = new Array(across * down).fill(0);
  for (let y = 0; y < c.height; y++) {
    for (let x = 0; x < c.width; x++) {
      const i = Math.floor((y * down) / c.height) * across + Math.floor((x * across) / c.width), at = 4 * (y * c.width + x);
      sum[i] += d[at + 3] * (1 - (d[at] + d[at + 1] + d[at + 2]) / 3 / 382); // ink: dark and opaque
      n[i]++;
    }
  }
  return sum.map((v, i) => Math.round(Math.max(0, v / n[i])));
};

document.documentElement.dataset.ready = "true";
