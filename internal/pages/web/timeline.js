import { axes, widest } from "./axis.js";
import { color, el, grid, Tabled } from "./dom.js";
import { count, number, seconds } from "./format.js";
import { linear, timeTicks } from "./scale.js";
import { state } from "./states.js";
import { clip, font, Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

/** @typedef {import("./study.js").Study} Study */
/** @typedef {{from: number, to: number, tone: string, worker: string, k: number, again: string, lane: number}} Bar a run, in ms */

// high is the height of a lane, and most is how many lanes are drawn.
const high = 24, most = 24;

// timeline draws when each run was made, on which worker: runs of trials by their states, and the runs that repeat a
// configuration. Pauses are cut short.
/** @param {HTMLElement} place @param {Study} study @returns {Chart} */
export function timeline(place, study) {
  const spots = new Spots(), said = el("p", { class: "note" });
  place.append(said);
  let bars = barsOf(study), lanes = lanesOf(bars);
  const surface = new Surface(place, { height: 80, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  /** @param {CanvasRenderingContext2D} ctx @param {number} width */
  function draw(ctx, width) {
    const shown = lanes.slice(0, most), height = 56 + high * Math.max(1, shown.length);
    if (surface.height !== height) {
      surface.height = height;
      return surface.paint();
    }
    const { place: at, breaks, length } = cut(bars);
    const area = { left: Math.min(width * 0.3, widest(ctx, shown) + 14), top: 6, right: width - 16, bottom: height - 48 };
    const sx = linear(0, length / 1000 || 1, area.left, area.right);
    axes(ctx, area, { scale: sx, ticks: timeTicks(0, sx.hi, Math.max(2, Math.floor((area.right - area.left) / 90))),
      text: (t) => (t === 0 ? "0" : seconds(t)), title: breaks.length ? "time, without pauses" : "time since the first run" },
    { scale: sx, ticks: [], text: () => "", title: "" });
    ctx.font = font();
    ctx.fillStyle = color("fg");
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const [i, name] of shown.entries()) ctx.fillText(clip(ctx, name, area.left - 10), area.left - 8, area.top + high * (i + 0.5));
    ctx.strokeStyle = color("axis");
    ctx.setLineDash([3, 3]);
    for (const b of breaks) {
      const x = Math.round(sx(b / 1000)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, area.top);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    spots.clear();
    const last = new Map(); // of a lane, the pixel and the colour that were drawn last
    for (const [i, b] of bars.entries()) {
      if (b.lane >= shown.length) continue;
      const x = sx(at(b.from) / 1000), w = Math.max(1, sx(at(b.to) / 1000) - x - 0.5), y = area.top + b.lane * high + 3;
      const key = Math.round(x + w) + b.tone;
      if (w <= 1 && last.get(b.lane) === key) continue;
      last.set(b.lane, key);
      ctx.fillStyle = color(b.tone);
      ctx.globalAlpha = b.again ? 0.55 : 0.85;
      ctx.fillRect(x, y + (b.again ? 4 : 0), w, high - 6 - (b.again ? 8 : 0));
      if (w > 12 && (b.tone === "stopped" || b.tone === "failed")) {
        ctx.fillStyle = color("card");
        ctx.textAlign = "center";
        ctx.fillText(b.tone === "failed" ? "×" : "∧", x + w / 2, y + high / 2 - 3);
      }
      spots.add(x + w / 2, y + high / 2 - 3, i);
    }
    ctx.globalAlpha = 1;
  }

  const say = () => {
    const span = bars.reduce((a, b) => Math.max(a, b.to), 0) - (bars[0]?.from ?? 0);
    const sum = (/** @type {(b: Bar) => boolean} */ of) => bars.reduce((a, b) => a + (of(b) ? b.to - b.from : 0), 0) / 1000;
    /** @type {[string, number][]} */
    const parts = [["stopped (∧)", sum((b) => b.tone === "stopped")], ["failed (×)", sum((b) => b.tone === "failed")],
      ["run again (thin)", sum((b) => b.again !== "")], ["lost in attempts that do not count", study.lost_s]];
    const some = parts.filter(([, s]) => s > 0).map(([text, s]) => `${seconds(s)} ${text}`).join(", ");
    said.textContent = bars.length === 0 ? "No run has begun."
      : `Runs took ${seconds(sum(() => true))} in ${seconds(span / 1000)}${some ? ": " + some : ""}.`;
    surface.label(`${said.textContent} ${count(bars.length)} runs on ${lanes.length} lanes: ${lanes.slice(0, most).join(", ")}. ` +
      "Arrow keys go from run to run.");
  };
  surface.follow(spots, (i) => {
    const b = bars[spots.of[i]];
    return [...(b.again ? [b.again] : []), ...study.about(b.k), `took ${seconds((b.to - b.from) / 1000)}`];
  }, 14);
  const below = new Tabled(place, "time by worker", () => grid(["where", "runs", "time of the runs", "stopped", "failed"], lanes.map((name, i) => {
    const own = bars.filter((b) => b.lane === i), n = (/** @type {string} */ tone) => number(own.filter((b) => b.tone === tone).length);
    return [name, count(own.length), seconds(own.reduce((a, b) => a + b.to - b.from, 0) / 1000), n("stopped"), n("failed")];
  }), "lrrrr"));
  say();
  return { update: () => {
    bars = barsOf(study);
    lanes = lanesOf(bars);
    say();
    below.update();
    surface.later();
  } };
}

// barsOf returns the runs whose times are on record, in the order in which they began.
/** @param {Study} study @returns {Bar[]} */
export function barsOf(study) {
  const t = study.trials, bars = [];
  for (let k = 0; k < study.n; k++) {
    const from = t.started_ms[k], to = t.state[k] === "running" ? study.now : from + 1000 * (t.elapsed_s[k] ?? 0);
    if (from > 0 && to > from) bars.push({ from, to, tone: state(t.state[k]).color, worker: t.worker[k], k, again: "", lane: 0 });
  }
  for (const a of study.again) {
    const k = study.row.get(a.trial), to = a.ended_ms ?? 0, from = to - 1000 * (a.elapsed ?? 0);
    if (k === undefined || to <= 0) continue;
    bars.push({ from, to, tone: "best", worker: a.worker ?? "", k, again: a.race ? "run again to find the best" : "run again to compare", lane: 0 });
  }
  return bars.sort((a, b) => a.from - b.from);
}

// lanesOf gives each run a lane, and returns the names of the lanes: a lane for each worker or, for runs of one machine,
// for each run at once.
/** @param {Bar[]} bars */
export function lanesOf(bars) {
  /** @type {{worker: string, free: number, name: string}[]} */
  const lanes = [];
  for (const b of bars) {
    let i = lanes.findIndex((l) => l.worker === b.worker && l.free <= b.from + 5);
    if (i < 0) i = lanes.push({ worker: b.worker, free: 0, name: "" }) - 1;
    lanes[i].free = b.to;
    b.lane = i;
  }
  const order = lanes.map((_, i) => i).sort((a, b) => lanes[a].worker.localeCompare(lanes[b].worker, "en", { numeric: true }) || a - b);
  for (const b of bars) b.lane = order.indexOf(b.lane);
  return order.map((i) => visible(lanes[i].worker || "here"));
}

// cut returns where a time is when pauses are cut short, where they were, and how long that is.
/** @param {Bar[]} bars */
export function cut(bars) {
  const busy = bars.reduce((a, b) => a + b.to - b.from, 0), long = Math.max(1000, busy / 3), short = Math.max(200, busy / 50);
  /** @type {{after: number, less: number}[]} */
  const cuts = [];
  /** @type {number[]} */
  const breaks = [];
  let until = bars[0]?.from ?? 0, less = until;
  for (const b of bars) {
    if (b.from - until > long) {
      breaks.push(until - less + short / 2);
      less += b.from - until - short;
      cuts.push({ after: b.from, less });
    }
    until = Math.max(until, b.to);
  }
  const first = bars[0]?.from ?? 0;
  const place = (/** @type {number} */ t) => t - (cuts.findLast((c) => c.after <= t)?.less ?? first);
  return { place, breaks, length: until - less };
}
