import { color, el, grid, Tabled, toggle } from "./dom.js";
import { count, number } from "./format.js";
import { keep, recall } from "./prefs.js";
import { linear, log } from "./scale.js";
import { state } from "./states.js";
import { clip, font, halo, Surface } from "./surface.js";
import { visible } from "./study.js";

/**
 * @typedef {{key: string, name: string, values: Num[], levels: string[] | null, lo: number, hi: number, log: boolean,
 *   canLog: boolean, say: (x: Num) => string, goal?: boolean}} Dim
 */

// most is how many lines are drawn at most, and while a brush is dragged.
const most = 12000, mostDragged = 2500;

// parallel draws a line for each trial through an axis for each parameter and one for the metric.
// A brush on an axis puts a condition on its column of the selection. Which part of the trials is
// shown, and which axes are logarithmic, is kept in the browser.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @param {import("./filter.js").Selection} selection @returns {Chart} */
export function parallel(place, study, selection) {
  const t = study.trials;
  const saved = recall("parallel", /** @type {{part?: number, stopped?: boolean}} */ ({}));
  const savedLogs = recall("log:" + study.study, /** @type {Record<string, boolean>} */ ({}));
  const few = Math.min(100, Math.max(20, Math.ceil(2000 / Math.max(1, study.trials.state.filter((s) => s === "done").length))));
  const view = { part: Math.min(100, Math.max(1, Number(saved.part) || few)), stopped: saved.stopped === true };
  /** @type {Dim[]} */
  const dims = study.params.map((p, i) => {
    const canLog = !p.levels && p.lo > 0 && p.hi > p.lo;
    return { key: "p:" + i, name: visible(p.name), values: t.config[i], levels: p.levels ?? null, lo: p.lo, hi: p.hi,
      log: canLog && (savedLogs[p.name] ?? Boolean(p.log)), canLog, say: (x) => visible(study.coordinate(i, x)) };
  });
  /** @type {Dim} */
  const goal = { key: "value", name: study.metric, values: t.value, levels: null, lo: 0, hi: 1, log: false, canLog: false,
    say: (x) => study.say(x), goal: true };
  dims.push(goal);
  const brushes = new Map(); // key: [from, to] in shares of the axis, from the bottom
  // done are the rows of trials that ran to their end within the limits, from worst to best, so that
  // the best are on top. Only these have a rank: the final value of a stopped run is unknown.
  /** @type {number[]} */
  let done = [];
  /** @type {number[]} */
  let others = [];
  /** @type {Map<number, number>} */
  let rankOf = new Map();

  function derive() {
    done = [];
    others = [];
    let lo = Infinity, hi = -Infinity;
    for (let k = 0; k < study.n; k++) {
      const v = t.value[k];
      if (v === null || t.state[k] === "running") continue;
      [lo, hi] = [Math.min(lo, v), Math.max(hi, v)];
      (t.state[k] === "done" ? done : others).push(k);
    }
    [goal.lo, goal.hi] = lo > hi ? [0, 1] : [lo, hi];
    const could = goal.canLog;
    goal.canLog = lo > 0 && hi > lo;
    if (could !== goal.canLog) goal.log = goal.canLog && (savedLogs[study.metric] ?? hi > 4 * lo);
    const sign = study.up ? 1 : -1;
    done.sort((a, b) => sign * ((t.value[a] ?? 0) - (t.value[b] ?? 0)) || a - b);
    rankOf = new Map(done.map((k, i) => [k, done.length > 1 ? i / (done.length - 1) : 1]));
  }
  derive();

  const status = el("span", { class: "muted", "aria-live": "polite" });
  const clear = el("button", { type: "button", onclick: () => { brushes.clear(); selection.clear(); } }, "clear all conditions");
  const changed = () => {
    keep("parallel", view);
    surface.later();
  };
  const part = el("output", { class: "num" });
  const slider = el("input", { type: "range", min: "1", max: "100", step: "1", value: String(view.part), "aria-label": "best share of trials, %",
    oninput: () => {
      view.part = Number(slider.value);
      said();
      changed();
    } });
  const said = () => {
    part.textContent = view.part === 100 ? "all" : `best ${view.part} %`;
    slider.setAttribute("aria-valuetext", part.textContent);
  };
  said();
  place.append(el("div", { class: "bar" },
    el("label", { class: "choice" }, el("span", { class: "label" }, "trials"), slider, part),
    toggle(`stopped and ${state("infeasible").text}`, view.stopped, (on) => { view.stopped = on; changed(); }), clear, status));
  const logs = el("div", { class: "bar" }, el("span", { class: "label" }, "logarithmic axes"),
    ...dims.filter((d) => d.canLog).map((d) => toggle(d.name, d.log, (on) => {
      d.log = on;
      savedLogs[d.goal ? study.metric : study.params[Number(d.key.slice(2))].name] = on;
      keep("log:" + study.study, savedLogs);
      drop(d.key);
      surface.paint();
    })));
  if (logs.children.length > 1) place.append(logs);
  const label = () => `Each of ${count(done.length + others.length)} trials as a line through its parameters and ${study.metric}. ` +
    "Drag along an axis to choose a range; the fields above the columns of the table of trials do the same by keyboard.";
  const surface = new Surface(place, { height: 360, minWidth: 84 * dims.length, label: label(), draw });
  const top = 44, base = 30;
  /** @type {number[]} */
  let xs = [];
  /** @type {Scale[]} */
  let scales = [];

  // shown returns the rows that are meant to be seen, from worst to best.
  function shown() {
    if (view.part < 100) return done.slice(-Math.max(1, Math.ceil((done.length * view.part) / 100)));
    return view.stopped ? [...others, ...done] : done;
  }

  // spread returns at most n of rows: the best tenth of n, and of the others evenly many.
  function spread(/** @type {number[]} */ rows, /** @type {number} */ n) {
    if (rows.length <= n) return rows;
    const best = Math.ceil(n / 10), rest = rows.length - best, every = rest / (n - best);
    return [...Array.from({ length: n - best }, (_, i) => rows[Math.floor(i * every)]), ...rows.slice(rest)];
  }

  function draw(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width, /** @type {number} */ height) {
    const left = 46, right = width - 82, bottom = height - base;
    xs = dims.map((_, i) => (dims.length > 1 ? left + (i * (right - left)) / (dims.length - 1) : width / 2));
    scales = dims.map((d) => (d.levels ? linear(-0.5, d.levels.length - 0.5, bottom, top)
      : d.log ? log(d.lo, d.hi, bottom, top) : linear(d.lo, d.hi, bottom, top)));
    const mask = selection.mask(), all = shown(), meant = all.filter((k) => mask[k]), limit = drag ? mostDragged : most;
    const lines = spread(meant, limit);
    ctx.lineWidth = 1;
    ctx.strokeStyle = color("faint");
    if (meant.length < all.length) {
      const dim = spread(all.filter((k) => !mask[k]), Math.max(limit - lines.length, limit / 4));
      ctx.globalAlpha = dim.length > 2000 ? 0.25 : 0.6;
      ctx.beginPath();
      for (const k of dim) path(ctx, k);
      ctx.stroke();
    }
    ctx.globalAlpha = lines.length > 3000 ? 0.12 : lines.length > 500 ? 0.3 : lines.length > 100 ? 0.55 : 0.85;
    const from = rgb(color("worst")), to = rgb(color("done"));
    ctx.lineWidth = lines.length > 500 ? 1 : 1.4;
    const dashes = lines.length <= 1000; // more dashes are invisible, and take seconds; the ends of the lines are seen
    for (const k of lines) {
      const r = rankOf.get(k);
      ctx.strokeStyle = r === undefined ? color(state(t.state[k]).color)
        : `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * r)).join(",")})`;
      if (dashes) ctx.setLineDash(r === undefined ? [2, 4] : []);
      ctx.beginPath();
      path(ctx, k);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    if (study.bestRow >= 0) {
      ctx.strokeStyle = color("best");
      ctx.lineWidth = 3;
      ctx.beginPath();
      path(ctx, study.bestRow);
      ctx.stroke();
    }
    for (const [i, d] of dims.entries()) axis(ctx, i, d, bottom, width);
    status.textContent = `${count(meant.length)} of ${count(done.length + others.length)} trials with a value` +
      (lines.length < meant.length ? `; ${count(lines.length)} lines are drawn, the best and an even choice of the others` : "");
    clear.hidden = selection.empty;
  }

  // path goes along the line of a trial, and leaves out axes without a value. A stopped one ends before
  // it has reached the axis of the metric, and one outside the limits has a gap there: more than its
  // colour shows how a trial ended, however many there are.
  function path(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ k) {
    let begun = false;
    /** @type {[number, number]} */
    let at = [0, 0];
    for (let i = 0; i < dims.length; i++) {
      const v = dims[i].values[k];
      if (v === null) continue;
      const x = xs[i], y = scales[i](v), how = dims[i].goal && begun ? t.state[k] : "";
      const part = (/** @type {number} */ share) => /** @type {[number, number]} */ ([at[0] + share * (x - at[0]), at[1] + share * (y - at[1])]);
      if (how === "censored") ctx.lineTo(...part(0.7));
      else if (how === "infeasible") {
        ctx.lineTo(...part(0.4));
        ctx.moveTo(...part(0.7));
        ctx.lineTo(x, y);
      } else if (begun) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      at = [x, y];
      begun = true;
    }
  }

  function axis(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ i, /** @type {Dim} */ d, /** @type {number} */ bottom,
    /** @type {number} */ width) {
    const x = Math.round(xs[i]) + 0.5;
    const room = dims.length > 1 ? xs[1] - xs[0] - 10 : width;
    ctx.strokeStyle = color("axis");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    ctx.fillStyle = color("fg");
    ctx.font = font(12, "600");
    ctx.textBaseline = "bottom";
    const name = clip(ctx, d.name, room);
    const half = ctx.measureText(name).width / 2;
    ctx.textAlign = "center";
    halo(ctx, name, Math.min(Math.max(x, half + 2), width - half - 2), top - 20);
    ctx.font = font(11);
    ctx.fillStyle = color("muted");
    if (d.log) ctx.fillText("log", x, top - 6);
    let ticks = d.levels ? d.levels.map((_, k) => k) : scales[i].ticks(6, d.goal ? study.unit : "").filter((v) => v >= d.lo && v <= d.hi);
    if (!d.levels && d.hi > d.lo && ticks.length < 2) ticks = [d.lo, d.hi];
    const every = Math.max(1, Math.ceil((ticks.length * 15) / (bottom - top)));
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const [k, v] of ticks.entries()) {
      if (k % every) continue;
      const y = scales[i](v), text = clip(ctx, d.say(v), Math.min(room - 4, d.goal ? 76 : 72));
      ctx.fillStyle = color("fg");
      halo(ctx, text, x + 5, y);
    }
    const b = brushes.get(d.key);
    if (b) {
      const y0 = bottom - b[0] * (bottom - top), y1 = bottom - b[1] * (bottom - top);
      ctx.globalAlpha = 0.25;
      ctx.fillStyle = color("accent");
      ctx.fillRect(x - 9, y1, 18, y0 - y1);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = color("accent");
      ctx.strokeRect(x - 9, y1, 18, y0 - y1);
    }
  }

  function drop(/** @type {string} */ key) {
    if (brushes.delete(key)) selection.set(key, null);
  }

  // put makes a condition of the brush on an axis.
  function put(/** @type {number} */ i, /** @type {number} */ a, /** @type {number} */ b) {
    const d = dims[i], bottom = surface.height - base;
    const share = (/** @type {number} */ y) => Math.min(1, Math.max(0, (bottom - y) / (bottom - top)));
    const from = Math.min(share(a), share(b)), to = Math.max(share(a), share(b));
    if (to - from < 0.01) {
      drop(d.key);
      surface.later();
      return;
    }
    brushes.set(d.key, [from, to]);
    const low = scales[i].invert(bottom - from * (bottom - top)), high = scales[i].invert(bottom - to * (bottom - top));
    const text = d.levels ? d.levels.filter((_, k) => k >= low && k <= high).map((l) => "=" + visible(l)).join(",")
      : `${number(low, 4).replace("−", "-")}..${number(high, 4).replace("−", "-")}`;
    selection.set(d.key, { text, brush: true, test: (k) => {
      const v = d.values[k];
      return v !== null && v >= low && v <= high;
    } });
  }

  /** @type {{i: number, y: number} | null} */
  let drag = null;
  const near = (/** @type {number} */ x) => xs.findIndex((at) => Math.abs(at - x) < 18);
  surface.canvas.addEventListener("pointerdown", (e) => {
    const [x, y] = surface.at(e), i = near(x);
    if (i < 0) return;
    e.preventDefault();
    surface.canvas.setPointerCapture(e.pointerId);
    drag = { i, y };
  });
  surface.canvas.addEventListener("pointermove", (e) => {
    const [x, y] = surface.at(e);
    if (drag) return put(drag.i, drag.y, y);
    surface.canvas.style.cursor = near(x) >= 0 ? "ns-resize" : "default";
    const k = nearest(x, y);
    surface.say(x, y, k === null ? null : study.about(k));
  });
  surface.canvas.addEventListener("pointerup", (e) => {
    if (!drag) return;
    const { i, y } = drag;
    drag = null;
    put(i, y, surface.at(e)[1]);
    surface.later();
  });
  surface.canvas.addEventListener("pointercancel", () => { drag = null; });
  surface.canvas.addEventListener("pointerleave", () => surface.say(0, 0, null));
  surface.canvas.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    brushes.clear();
    selection.clear();
  });
  // A condition that was changed elsewhere is no brush any more.
  selection.listen(() => {
    for (const key of [...brushes.keys()]) if (!selection.conditions.get(key)?.brush) brushes.delete(key);
    below.update();
    surface.later();
  });

  // nearest returns the trial whose line passes a point within 5 pixels.
  function nearest(/** @type {number} */ x, /** @type {number} */ y) {
    const i = xs.findIndex((at, k) => x >= at && x <= xs[k + 1]);
    if (i < 0) return null;
    const share = (x - xs[i]) / (xs[i + 1] - xs[i]), mask = selection.mask();
    let best = null, d = 5;
    for (const k of shown()) {
      const a = dims[i].values[k], b = dims[i + 1].values[k];
      if (!mask[k] || a === null || b === null) continue;
      const q = Math.abs(scales[i](a) * (1 - share) + scales[i + 1](b) * share - y);
      if (q < d) [best, d] = [k, q];
    }
    return best;
  }

  place.append(el("p", { class: "note" }, "The stronger the blue the better, and the thick line is the best. The line of a stopped trial " +
    `ends before the last axis, where it would have gone on; one ${state("infeasible").text} has a gap there.`));
  const below = new Tabled(place, "the best 100 of these trials", () => {
    const mask = selection.mask(), rows = done.filter((k) => mask[k]).slice(-100).reverse();
    return grid(["trial", ...dims.map((d) => d.name)], rows.map((k) => [String(t.id[k]), ...dims.map((d) => d.say(d.values[k]))]),
      "r" + dims.map((d) => (d.levels ? "l" : "r")).join(""));
  });
  return { update: () => {
    derive();
    surface.label(label());
    below.update();
    surface.later();
  } };
}

// rgb reads #rrggbb.
/** @param {string} text */
function rgb(text) { return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)); }
