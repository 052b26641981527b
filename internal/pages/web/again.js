import { axes } from "./axis.js";
import { color, grid, Tabled } from "./dom.js";
import { seconds } from "./format.js";
import { linear, padded } from "./scale.js";
import { font, Spots, Surface } from "./surface.js";

// again draws the runs at the end, which the choice of the best did not depend on: each value of
// the first configuration and of the best, with their medians.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @returns {Chart} */
export function again(place, study) {
  const of = (/** @type {number} */ id) => study.again.flatMap((a) => (a.trial === id && a.value !== null && !a.race ? [a.value] : []));
  /** @type {[string, number[], string][]} */
  const rows = [[study.default ? "default" : "first", of(study.first), "stopped"], ["best", of(study.best), "best"]];
  const all = rows.flatMap((r) => r[1]);
  const spots = new Spots();
  const surface = new Surface(place, { height: 168, draw, over: (ctx) => spots.ring(ctx, color("fg")), label: rows.map(([name, v]) =>
    `${name}: ${v.map((x) => study.say(x)).join(", ")}; median ${study.say(median(v))}`).join(". ") });

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    const [lo, hi] = padded(all, false, 0.1);
    const box = { left: 64, top: 14, right: width - 24, bottom: height - 48 };
    const sx = linear(lo, hi, box.left, box.right);
    axes(ctx, box, { scale: sx, ticks: sx.ticks(Math.max(3, Math.floor(width / 90)), study.unit), text: (v) => study.say(v), title: study.metric },
      { scale: (v) => v, ticks: [], text: () => "", title: "" });
    spots.clear();
    for (const [i, [name, values, tone]] of rows.entries()) {
      const y = box.top + 22 + i * 44;
      ctx.font = font(12, "600");
      ctx.fillStyle = color("fg");
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      ctx.fillText(name, box.left - 12, y);
      ctx.strokeStyle = color("grid");
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(box.left, y);
      ctx.lineTo(box.right, y);
      ctx.stroke();
      ctx.fillStyle = color(tone);
      for (const [k, v] of values.entries()) {
        const x = sx(v), dy = (k % 3 - 1) * 5;
        ctx.globalAlpha = 0.75;
        ctx.beginPath();
        ctx.arc(x, y + dy, 4.5, 0, 2 * Math.PI);
        ctx.fill();
        spots.add(x, y + dy, i * 1e6 + k);
      }
      ctx.globalAlpha = 1;
      if (values.length === 0) continue;
      const m = sx(median(values) ?? 0);
      ctx.strokeStyle = color("fg");
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.moveTo(m, y - 14);
      ctx.lineTo(m, y + 14);
      ctx.stroke();
    }
  }
  surface.follow(spots, (i) => {
    const [name, values] = rows[Math.floor(spots.of[i] / 1e6)];
    return [name, `${study.metric} ${study.say(values[spots.of[i] % 1e6])}`];
  }, 8);
  new Tabled(place, "the runs at the end", () => grid(["run", "trial", study.metric, "time of the run"],
    study.again.map((a, i) => [String(i + 1), String(a.trial), study.say(a.value), seconds(a.elapsed)]), "rrrr"));
  return { update: () => surface.later() };
}

/** @param {number[]} values */
export function median(values) {
  const v = [...values].sort((a, b) => a - b), n = v.length;
  if (n === 0) return null;
  return n % 2 ? v[(n - 1) / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}
