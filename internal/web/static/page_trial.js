import { axes, widest } from "./axis.js";
import "./copy.js";
import { choice, color, el } from "./dom.js";
import { metric, number, seconds } from "./format.js";
import { follow, get, say, visible } from "./rows.js";
import { linear, padded, timeTicks } from "./scale.js";
import { font, Surface } from "./surface.js";

// One trial as it goes on: the page draws its reports, and loads again when it has ended.

const place = /** @type {HTMLElement} */ (document.getElementById("trial"));
const path = `/studies/${encodeURIComponent(place.dataset.study ?? "")}/trials/${place.dataset.trial}`;
/** @param {string} what @param {boolean} is */
function show(what, is) {
  const e = /** @type {HTMLElement | null} */ (document.querySelector(what));
  if (e) e.hidden = !is;
}

const dashes = [[], [6, 3], [2, 3]];
/** @type {any} */
let surface = null;
let shown = "";
/** @type {string[]} */
let names = [];
/** @type {any[]} */
let curves = [];
/** @type {any} */
let detail = null; // of the trial, as the API has it

/** @returns {string} */
const unit = () => (Object.hasOwn(detail.units, shown) ? detail.units[shown] : "");
/** @param {number} x */
const say1 = (x) => (unit() ? metric(x, unit()) : number(x));

/** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
function draw(ctx, width, height) {
  const all = curves.map((c) => ({ at: c.at_s, values: c.metrics[shown] ?? [] }));
  const values = all.flatMap((c) => c.values).filter((v) => v !== null);
  const v = detail.trial.decision?.predicted, predicted = shown === detail.metric && typeof v === "number" ? v : null;
  const end = all.reduce((m, c) => Math.max(m, c.at.at(-1) ?? 0), 0);
  const [lo, hi] = padded(predicted === null ? values : [...values, predicted], false);
  const sy = linear(lo, hi, height - 46, 26);
  const yTicks = sy.ticks(5, unit());
  const left = Math.min(width * 0.3, widest(ctx, yTicks.map(say1)) + 12), right = width - 16;
  const sx = linear(0, end * 1.03 || 1, left, right);
  axes(ctx, { left, top: 26, right, bottom: height - 46 },
    { scale: sx, ticks: timeTicks(0, sx.hi, Math.max(2, Math.floor((right - left) / 90))), text: (t) => (t === 0 ? "0" : seconds(t)), title: "since it began" },
    { scale: sy, ticks: yTicks, text: say1, title: visible(shown) });
  for (const [i, c] of all.entries()) {
    ctx.strokeStyle = ctx.fillStyle = color(i === all.length - 1 ? "done" : "muted");
    ctx.lineWidth = 1.6;
    ctx.setLineDash(dashes[(all.length - 1 - i) % dashes.length]);
    ctx.beginPath();
    let pen = false;
    for (const [k, t] of c.at.entries()) {
      if (c.values[k] === null) { pen = false; continue; }
      if (pen) ctx.lineTo(sx(t), sy(c.values[k]));
      else ctx.moveTo(sx(t), sy(c.values[k]));
      pen = true;
      if (c.at.length < 60) ctx.fillRect(sx(t) - 1.5, sy(c.values[k]) - 1.5, 3, 3);
    }
    ctx.stroke();
  }
  ctx.setLineDash([]);
  if (predicted !== null) {
    ctx.strokeStyle = ctx.fillStyle = color("stopped");
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(left, sy(predicted));
    ctx.lineTo(right, sy(predicted));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.font = font();
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.fillText("predicted " + say1(predicted), right, sy(predicted) - 3);
  }
}

/** @param {any} d */
function curve(d) {
  detail = d;
  curves = d.attempts.map((/** @type {any} */ a) => a.curve).filter(Boolean);
  const now = [...new Set(curves.flatMap((c) => Object.keys(c.metrics)))].sort();
  if (now.length === 0) return;
  show("[data-some=curve]", true);
  if (!names.includes(shown)) shown = now.includes(d.metric) ? d.metric : now[0];
  if (now.join("\n") !== names.join("\n")) {
    names = now;
    const at = /** @type {HTMLElement} */ (document.getElementById("curve")), fresh = el("div");
    at.replaceChildren(fresh);
    if (names.length > 1) {
      fresh.append(el("div", { class: "bar" }, choice("metric", names.map((n) => [n, visible(n)]), shown, (v) => { shown = v; surface.paint(); })));
    }
    surface = new Surface(fresh, { height: 240, label: `reports of trial ${d.trial.id} over its time; the table below has the numbers`, draw });
  }
  surface.paint();
}

/** @param {any} d */
function attempts(d) {
  const a = d.attempts.at(-1);
  if (a) say("elapsed", seconds(a.elapsed_s + (a.silent_s ?? 0)));
}

// print shows the output, and follows its end unless the reader is above it.
async function print() {
  const at = document.getElementById("output");
  if (!at || at.dataset.state === "ended") return;
  const o = await get(path + "/output?tail=65536");
  show("[data-none=output]", !o.stdout.text && !o.stderr.text);
  for (const name of ["stdout", "stderr"]) {
    const pre = /** @type {HTMLElement} */ (at.querySelector(`[data-output=${name}]`)), text = visibleLines(o[name].text);
    show(`[data-some=${name}]`, Boolean(text));
    if (pre.textContent === text) continue;
    const end = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4;
    pre.textContent = text;
    if (end) pre.scrollTop = pre.scrollHeight;
  }
}

/** @param {string} text */
const visibleLines = (text) => text.split("\n").map((l) => l.split("\t").map(visible).join("\t")).join("\n");

const running = place.dataset.state === "running";
const attemptsSeen = document.querySelectorAll("#attempts tr").length;

follow(async () => {
  const d = await get(path);
  curve(d);
  if (running && (d.trial.state !== "running" || d.attempts.length !== attemptsSeen)) {
    location.reload(); // it has ended, or begun
    return false;
  }
  if (running) {
    attempts(d);
    await print();
  }
  return running;
});
