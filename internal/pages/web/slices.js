import { axes, widest } from "./axis.js";
import { color, el, grid, Tabled } from "./dom.js";
import { linear, log, padded } from "./scale.js";
import { mark } from "./states.js";
import { Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

/** @typedef {import("./study.js").Study} Study */

// most is how many parameters are drawn before a reader asks for all.
const most = 12;

// slices draws the metric over each parameter, the most important one first: the trials and, where there is a model, its
// prediction for each value.
/** @param {HTMLElement} place @param {Study} study @returns {Chart} */
export function slices(place, study) {
  const box = el("div", { class: "tiles" });
  const more = el("button", { type: "button", onclick: () => { all = true; make(); } });
  place.append(box, more);
  let all = false, drawn = "";
  /** @type {Chart[]} */
  let charts = [];
  const make = () => {
    const order = ordered(study), some = all ? order : order.slice(0, most);
    more.hidden = some.length === order.length;
    more.textContent = `all ${order.length} parameters`;
    const wanted = some.join();
    if (wanted === drawn) return;
    drawn = wanted;
    box.replaceChildren();
    charts = some.map((at) => slice(box, study, at));
  };
  make();
  const below = new Tabled(place, "predictions of the model", () => grid(["parameter", "value", `${study.metric}, median`, "10 % are below", "90 % are below"],
    (study.explain?.parameters ?? []).flatMap((p, i) => {
      const at = study.params.findIndex((q) => q.name === p.name);
      return (study.explain?.curves[i] ?? []).map((q) =>
        [visible(p.name), visible(study.coordinate(at, q.x)), study.say(q.mid), study.say(q.low), study.say(q.high)]);
    }), "llrrr"));
  return { update: () => {
    make();
    for (const c of charts) c.update();
    below.update();
  } };
}

// ordered returns the places of the parameters, the most important first if that is known.
/** @param {Study} study */
export function ordered(study) {
  const places = (study.explain?.parameters ?? []).map((p) => study.params.findIndex((q) => q.name === p.name));
  return [...places, ...study.params.keys()].filter((at, i, list) => at >= 0 && list.indexOf(at) === i);
}

/** @param {HTMLElement} place @param {Study} study @param {number} at the place of the parameter @returns {Chart} */
function slice(place, study, at) {
  const p = study.params[at], name = visible(p.name), box = el("div", {}, el("h3", {}, name)), spots = new Spots();
  place.append(box);
  const curve = () => study.explain?.curves[study.explain.parameters.findIndex((q) => q.name === p.name)] ?? [];
  const best = () => (study.bestRow < 0 ? "" : `, and the best has ${visible(study.param(at, study.bestRow))}`);
  const spoken = () => `${study.metric} of ${study.n} trials by ${name}${best()}. ` + (curve().length ? "Predicted: " + curve()
    .filter((_, k) => curve().length < 9 || k % 4 === 0).map((q) => `${visible(study.coordinate(at, q.x))}: ${study.say(q.mid)}`).join(", ") : "");
  const surface = new Surface(box, { height: 210, label: spoken(), draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    const t = study.trials, model = curve();
    const values = [...t.value, ...model.flatMap((q) => [q.low, q.high])];
    const [low, high] = padded(values, false, 0), isLog = low > 0 && high > 4 * low, [lo, hi] = padded(values, isLog);
    const sy = (isLog ? log : linear)(lo, hi, height - 30, 12), ticks = sy.ticks(4, study.unit);
    const left = Math.min(width * 0.35, widest(ctx, ticks.map((v) => study.say(v))) + 12);
    const area = { left, top: 12, right: width - 14, bottom: height - 30 };
    const { scale, xTicks } = coordinates(p, area, width);
    axes(ctx, area, { scale, ticks: xTicks, text: (x) => short(visible(study.coordinate(at, x))), title: "" },
      { scale: sy, ticks, text: (v) => study.say(v), title: "" });
    predicted(ctx, model, scale, sy, p.levels !== undefined && p.levels !== null);
    spots.clear();
    const taken = new Uint8Array(Math.ceil(width / 2 + 1) * Math.ceil(height / 2 + 1));
    ctx.globalAlpha = study.n > 500 ? 0.4 : 0.6;
    for (let k = 0; k < study.n; k++) {
      const c = t.config[at][k], v = t.value[k];
      if (c === null || v === null) continue;
      const x = scale(c) + (p.levels ? jitter(k) * 12 : 0), y = sy(v), cell = (y >> 1) * Math.ceil(width / 2) + (x >> 1);
      if (taken[cell]) continue; // it would cover a mark
      taken[cell] = 1;
      mark(ctx, t.state[k], x, y, 2.5);
      spots.add(x, y, k);
    }
    ctx.globalAlpha = 1;
    const c = t.config[at][study.bestRow] ?? null, v = t.value[study.bestRow] ?? null;
    if (c === null || v === null) return;
    ctx.strokeStyle = color("best");
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(scale(c), sy(v), 7, 0, 2 * Math.PI);
    ctx.stroke();
  }

  surface.follow(spots, (i) => study.about(spots.of[i]), 20);
  return { update: () => {
    surface.label(spoken());
    surface.later();
  } };
}

// predicted draws the median of the model over the other parameters, and the band of 80 % of them.
/** @param {CanvasRenderingContext2D} ctx @param {Sampled[]} model @param {(x: number) => number} sx @param {Scale} sy @param {boolean} levels */
function predicted(ctx, model, sx, sy, levels) {
  ctx.globalAlpha = 0.18;
  ctx.fillStyle = ctx.strokeStyle = color("accent");
  ctx.lineWidth = 2;
  if (levels) for (const q of model) ctx.fillRect(sx(q.x) - 9, sy(q.high), 18, Math.max(2, sy(q.low) - sy(q.high)));
  else {
    ctx.beginPath();
    for (const q of model) ctx.lineTo(sx(q.x), sy(q.low));
    for (const q of [...model].reverse()) ctx.lineTo(sx(q.x), sy(q.high));
    ctx.fill();
  }
  ctx.globalAlpha = 1;
  ctx.beginPath();
  for (const q of model) {
    if (levels) ctx.moveTo(sx(q.x) - 9, sy(q.mid));
    ctx.lineTo(sx(q.x) + (levels ? 9 : 0), sy(q.mid));
  }
  ctx.stroke();
}

// coordinates returns the scale of a parameter over an area, and ticks that fit.
/** @param {Param} p @param {Area} area @param {number} width */
export function coordinates(p, area, width) {
  if (p.levels) {
    const scale = linear(-0.5, p.levels.length - 0.5, area.left, area.right);
    const every = Math.max(1, Math.ceil((p.levels.length * 56) / width));
    return { scale, xTicks: p.levels.map((_, i) => i).filter((i) => i % every === 0) };
  }
  const isLog = p.log && p.lo > 0, pad = (p.hi - p.lo) * 0.03;
  const scale = isLog ? log(p.lo / 1.05, p.hi * 1.05, area.left, area.right) : linear(p.lo - pad, p.hi + pad, area.left, area.right);
  const ticks = scale.ticks(Math.max(2, Math.floor((area.right - area.left) / 64))).filter((x) => x >= p.lo && x <= p.hi);
  return { scale, xTicks: p.kind === "int" ? ticks.filter(Number.isInteger) : ticks };
}

export const short = (/** @type {string} */ text) => (text.length > 12 ? text.slice(0, 11) + "…" : text);

// jitter spreads marks of one value, the same way each time.
export const jitter = (/** @type {number} */ k) => ((k * 0.618034) % 1) - 0.5;
