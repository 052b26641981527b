import { axes, widest } from "./axis.js";
import { color, el, grid, select, Tabled } from "./dom.js";
import { log, linear } from "./scale.js";
import { coordinates, jitter, ordered, short } from "./slices.js";
import { mark } from "./states.js";
import { Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

/** @typedef {import("./study.js").Study} Study */
/** @typedef {{x: number, y: number, rank: number}} Point in shares of the axes, with the share of trials that are worse */

// across and down are the numbers of cells, and steps is how many colours they have.
const across = 48, down = 28, steps = 8;

// contour draws the trials over two parameters, and behind them for each place how good the trials near it are.
/** @param {HTMLElement} place @param {Study} study @returns {Chart} */
export function contour(place, study) {
  const usable = () => ordered(study).filter((i) => study.params[i].kind !== "permutation");
  const card = place.closest(".card");
  if (usable().length < 2) {
    if (card instanceof HTMLElement) card.hidden = true;
    return { update() {} };
  }
  let [x, y] = usable(), chosen = false;
  const bar = el("div", { class: "bar" });
  place.append(bar);
  const controls = () => bar.replaceChildren(...(/** @type {const} */ (["across", "upwards"])).map((side) =>
    select(side, usable().map((i) => [String(i), visible(study.params[i].name)]), String(side === "across" ? x : y), (v) => {
      if (side === "across") [x, y] = [Number(v), Number(v) === y ? x : y];
      else [x, y] = [Number(v) === x ? y : x, Number(v)];
      chosen = true;
      changed();
    })));
  const spots = new Spots();
  const surface = new Surface(place, { height: 340, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });
  place.append(el("p", { class: "note" }, "The stronger the blue, the better are the trials near it in these two parameters. The ring is the best."));
  const head = () => ["trial", visible(study.params[x].name), visible(study.params[y].name), study.metric];
  const row = (/** @type {number} */ k) => [String(study.trials.id[k]), visible(study.param(x, k)), visible(study.param(y, k)), study.value(k)];
  const below = new Tabled(place, "the best 20 trials", () => grid(head(), ranked(study).reverse().slice(0, 20).map(row), "rrrr"));

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    const p = study.params[x], q = study.params[y], t = study.trials, bottom = height - 46, top = 26;
    const scaleY = q.levels ? linear(-0.5, q.levels.length - 0.5, bottom, top) : (q.log && q.lo > 0 ? log : linear)(q.lo, q.hi, bottom, top);
    const ticks = q.levels ? q.levels.map((_, i) => i)
      : scaleY.ticks(6).filter((v) => v >= q.lo && v <= q.hi && (q.kind !== "int" || Number.isInteger(v)));
    const text = (/** @type {number} */ v) => short(visible(study.coordinate(y, v)));
    const area = { left: Math.min(width * 0.35, widest(ctx, ticks.map(text)) + 12), top, right: width - 16, bottom };
    const { scale: scaleX, xTicks } = coordinates(p, area, width);
    const rows = ranked(study), at = (/** @type {number} */ k) => {
      const a = t.config[x][k], b = t.config[y][k];
      return a === null || b === null ? null : { x: (scaleX(a) - area.left) / (area.right - area.left), y: (scaleY(b) - top) / (bottom - top) };
    };
    const points = rows.flatMap((k, i) => {
      const place = at(k);
      return place ? [{ ...place, rank: rows.length > 1 ? i / (rows.length - 1) : 1 }] : [];
    });
    cells(ctx, area, points);
    axes(ctx, area, { scale: scaleX, ticks: xTicks, text: (v) => short(visible(study.coordinate(x, v))), title: visible(p.name) },
      { scale: scaleY, ticks, text, title: visible(q.name) });
    spots.clear();
    const many = study.n > 3000;
    ctx.globalAlpha = many ? 0.4 : 0.8;
    for (let k = 0; k < study.n; k++) {
      const place = at(k);
      if (!place || t.value[k] === null) continue;
      const px = area.left + place.x * (area.right - area.left) + (p.levels ? jitter(k) * 14 : 0);
      const py = top + place.y * (bottom - top) + (q.levels ? jitter(k + 7) * 14 : 0);
      mark(ctx, t.state[k], px, py, many ? 1.5 : 2.5);
      spots.add(px, py, k);
    }
    ctx.globalAlpha = 1;
    const best = study.bestRow >= 0 ? at(study.bestRow) : null;
    if (!best) return;
    ctx.strokeStyle = color("best");
    ctx.lineWidth = 2.5;
    ctx.beginPath();
    ctx.arc(area.left + best.x * (area.right - area.left), top + best.y * (bottom - top), 8, 0, 2 * Math.PI);
    ctx.stroke();
  }

  const changed = () => {
    controls();
    surface.label(`${study.metric} over ${visible(study.params[x].name)} and ${visible(study.params[y].name)}: ${ranked(study).length} trials that ran ` +
      "to their end within the limits. The table below has the best.");
    below.update();
    surface.paint();
  };
  surface.follow(spots, (i) => study.about(spots.of[i]));
  changed();
  return { update: () => {
    if (!chosen) [x, y] = usable();
    changed();
  } };
}

// ranked returns the rows that ran to their end within the limits, from worst to best.
/** @param {Study} study */
function ranked(study) {
  const t = study.trials, sign = study.up ? 1 : -1;
  return t.state.flatMap((s, k) => (s === "done" && t.value[k] !== null ? [k] : []))
    .sort((a, b) => sign * ((t.value[a] ?? 0) - (t.value[b] ?? 0)) || a - b);
}

// cells fills an area with how good the trials near each place are: the mean of their ranks by the inverse of the fourth
// power of the distance. 400 trials are enough if there are more.
/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Point[]} all */
function cells(ctx, area, all) {
  if (all.length < 3) return;
  const every = Math.ceil(all.length / 400), points = all.filter((_, i) => (all.length - 1 - i) % every === 0);
  const w = (area.right - area.left) / across, h = (area.bottom - area.top) / down;
  ctx.fillStyle = color("done");
  for (let i = 0; i < across; i++) {
    for (let j = 0; j < down; j++) {
      const x = (i + 0.5) / across, y = (j + 0.5) / down;
      let sum = 0, weight = 0;
      for (const p of points) {
        const d = 1 / ((p.x - x) ** 2 + (p.y - y) ** 2 + 5e-4) ** 2;
        sum += d * p.rank;
        weight += d;
      }
      ctx.globalAlpha = 0.55 * (Math.floor(steps * sum / weight) / steps);
      const left = Math.round(area.left + i * w), top = Math.round(area.top + j * h);
      ctx.fillRect(left, top, Math.round(area.left + (i + 1) * w) - left, Math.round(area.top + (j + 1) * h) - top);
    }
  }
  ctx.globalAlpha = 1;
}
