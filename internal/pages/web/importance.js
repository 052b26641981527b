import { axes, widest } from "./axis.js";
import { color, el, grid, Tabled } from "./dom.js";
import { number, percent } from "./format.js";
import { linear, log, padded } from "./scale.js";
import { mark } from "./states.js";
import { Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

// importance lists the parameters by how far they move the metric; the one that is chosen is drawn
// with what the model expects of each of its values, and with the trials.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @returns {Chart} */
export function importance(place, study) {
  const e = /** @type {Explained} */ (study.explain);
  const size = (/** @type {number} */ x) => (e.relative ? Math.expm1(x) : x);
  const say = (/** @type {number} */ x) => (e.relative ? percent(size(x)) : (x > 0 ? "+" : "") + study.say(x));
  const most = Math.max(...e.parameters.map((p) => Math.abs(p.importance)), 1e-300);
  let chosen = 0;
  const list = el("div", { class: "bars", role: "radiogroup", "aria-label": "parameter that is drawn" });
  /** @type {HTMLButtonElement[]} */
  const rows = e.parameters.map((p, i) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = Math.max(0.5, (100 * Math.abs(p.importance)) / most) + "%";
    return el("button", { type: "button", role: "radio", class: "barrow", onclick: () => pick(i), onkeydown: (/** @type {KeyboardEvent} */ ev) => {
      const to = ev.key === "ArrowDown" ? i + 1 : ev.key === "ArrowUp" ? i - 1 : -1;
      if (!rows[to]) return;
      ev.preventDefault();
      pick(to);
      rows[to].focus();
    } },
    el("span", { class: "name" }, visible(p.name)), el("span", { class: "track" }, fill),
    el("span", { class: "num" }, "±" + say(Math.abs(p.importance)).replace("+", "")));
  });
  list.append(...rows);
  const title = el("h4", {});
  const box = el("div", { class: "side" }, title);
  place.append(el("div", { class: "split" }, el("div", {}, list), box));
  const spots = new Spots();
  const surface = new Surface(box, { height: 300, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  /** @param {number} i */
  function pick(i) {
    chosen = i;
    for (const [k, r] of rows.entries()) {
      r.setAttribute("aria-checked", String(k === i));
      r.tabIndex = k === i ? 0 : -1;
    }
    const p = e.parameters[i];
    title.textContent = `${visible(p.name)}: at the best, ${visible(String(p.value))} does ${say(p.effect)}; alone ${number(100 * p.main_effect, 2)} %`;
    surface.canvas.setAttribute("aria-label", spoken(i));
    surface.paint();
    below.update();
  }

  /** @param {number} i */
  function spoken(i) {
    const at = study.params.findIndex((q) => q.name === e.parameters[i].name);
    const points = e.curves[i] ?? [];
    return `What the model expects of ${study.metric} for values of ${visible(e.parameters[i].name)}: ` +
      points.filter((_, k) => points.length < 9 || k % 4 === 0).map((q) => `${visible(study.coordinate(at, q.x))}: ${study.say(q.mid)}`).join(", ");
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    const name = e.parameters[chosen].name;
    const at = study.params.findIndex((q) => q.name === name);
    const p = study.params[at], curve = e.curves[chosen] ?? [];
    const t = study.trials;
    const shown = t.value.map((_, k) => k).filter((k) => t.value[k] !== null);
    /** @type {Num[]} */
    const values = [...shown.map((k) => t.value[k]), ...curve.flatMap((q) => [q.low, q.high])].filter((v) => v !== null);
    const [least, most] = extremes(values), isLog = least > 0 && most > 4 * least;
    const [lo, hi] = padded(values, isLog);
    const sy = (isLog ? log : linear)(lo, hi, height - 52, 30);
    const ticks = sy.ticks(5, study.unit);
    const left = Math.min(width * 0.35, widest(ctx, ticks.map((v) => study.say(v))) + 12);
    const area = { left, top: 30, right: width - 16, bottom: height - 52 };
    const { scale, xTicks } = coordinates(p, area, width);
    axes(ctx, area, { scale, ticks: xTicks, text: (x) => short(visible(study.coordinate(at, x))), title: visible(name) + (p.log ? ", logarithmic" : "") },
      { scale: sy, ticks, text: (v) => study.say(v), title: study.metric });
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = color("accent");
    if (p.levels) {
      for (const q of curve) ctx.fillRect(scale(q.x) - 9, sy(q.high), 18, Math.max(2, sy(q.low) - sy(q.high)));
    } else {
      ctx.beginPath();
      for (const q of curve) ctx.lineTo(scale(q.x), sy(q.low));
      for (const q of [...curve].reverse()) ctx.lineTo(scale(q.x), sy(q.high));
      ctx.fill();
    }
    spots.clear();
    for (const k of shown) {
      const c = t.config[at][k], v = t.value[k];
      if (c === null || v === null) continue;
      const x = scale(c) + (p.levels ? jitter(k) * 12 : 0), y = sy(v);
      ctx.globalAlpha = shown.length > 500 ? 0.25 : 0.55;
      mark(ctx, t.state[k], x, y, 2.5);
      spots.add(x, y, k);
    }
    ctx.globalAlpha = 1;
    ctx.strokeStyle = color("accent");
    ctx.fillStyle = color("accent");
    ctx.lineWidth = 2;
    ctx.beginPath();
    for (const q of curve) {
      if (p.levels) {
        ctx.moveTo(scale(q.x) - 9, sy(q.mid));
        ctx.lineTo(scale(q.x) + 9, sy(q.mid));
      } else ctx.lineTo(scale(q.x), sy(q.mid));
    }
    ctx.stroke();
    const c = t.config[at][study.bestRow] ?? null, v = t.value[study.bestRow] ?? null;
    if (c !== null && v !== null) {
      ctx.strokeStyle = color("best");
      ctx.beginPath();
      ctx.arc(scale(c), sy(v), 7, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }

  surface.follow(spots, (i) => study.about(spots.of[i]), 20);
  new Tabled(place, "importance", () => grid(["parameter", "best value", "at the best", "importance", "alone"],
    e.parameters.map((p) => [visible(p.name), visible(String(p.value)), say(p.effect), "±" + say(Math.abs(p.importance)).replace("+", ""),
      number(100 * p.main_effect, 2) + " %"]), "llrrr"));
  const below = new Tabled(place, "what the model expects", () => {
    const p = e.parameters[chosen], at = study.params.findIndex((q) => q.name === p.name);
    return grid([visible(p.name), `${study.metric}, median`, "10 % are below", "90 % are below"], (e.curves[chosen] ?? []).map((q) =>
      [visible(study.coordinate(at, q.x)), study.say(q.mid), study.say(q.low), study.say(q.high)]), "rrrr");
  });
  pick(0);
  return { update: () => surface.later() };
}

// coordinates returns the scale of a parameter over an area, and ticks that fit.
/** @param {Param} p @param {Area} area @param {number} width */
export function coordinates(p, area, width) {
  if (p.levels) {
    const scale = linear(-0.5, p.levels.length - 0.5, area.left, area.right);
    const every = Math.max(1, Math.ceil((p.levels.length * 56) / width));
    return { scale, xTicks: p.levels.map((_, i) => i).filter((i) => i % every === 0) };
  }
  const isLog = p.log && p.lo > 0;
  const pad = isLog ? 1 : (p.hi - p.lo) * 0.02;
  const scale = isLog ? log(p.lo / 1.05, p.hi * 1.05, area.left, area.right) : linear(p.lo - pad, p.hi + pad, area.left, area.right);
  const ticks = scale.ticks(Math.max(2, Math.floor((area.right - area.left) / 64))).filter((x) => x >= p.lo && x <= p.hi);
  return { scale, xTicks: p.kind === "int" ? ticks.filter(Number.isInteger) : ticks };
}

const short = (/** @type {string} */ text) => (text.length > 12 ? text.slice(0, 11) + "…" : text);

// jitter spreads marks of one value, the same way each time.
const jitter = (/** @type {number} */ k) => ((k * 0.618034) % 1) - 0.5;

/** @param {Num[]} values */
function extremes(values) {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) {
    if (v === null) continue;
    lo = Math.min(lo, v);
    hi = Math.max(hi, v);
  }
  return [lo, hi];
}
