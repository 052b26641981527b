import { axes, widest } from "./axis.js";
import { choice, color, grid, Tabled } from "./dom.js";
import { number, seconds } from "./format.js";
import { linear, log, padded, timeTicks } from "./scale.js";
import { mark } from "./states.js";
import { Spots, Surface } from "./surface.js";

/** @typedef {{trial: number, metric: string, step: number[], at_s: number[], value: number[]}} Reported the reports of a run */

// reports draws the values that runs reported before they ended, a line for each run: the best is thick, and a stopped one
// ends with its mark. load returns the reports.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @param {() => Promise<Reported[]>} load @returns {Chart} */
export function reports(place, study, load) {
  /** @type {Reported[]} */
  let all = [];
  const view = { by: "step", log: false }, spots = new Spots();
  const bar = choice("over", [["step", "reports"], ["time", "time"]], view.by, (v) => { view.by = v; surface.paint(); });
  const scale = choice("scale", [[false, "linear"], [true, "log"]], view.log, (v) => { view.log = v; surface.paint(); });
  place.append(bar, " ", scale);
  const surface = new Surface(place, { height: 300, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    if (all.length === 0) return;
    const xs = (/** @type {Reported} */ r) => (view.by === "step" ? r.step : r.at_s), values = all.flatMap((r) => r.value);
    const isLog = view.log && values.every((v) => v > 0), [lo, hi] = padded(values, isLog);
    const sy = (isLog ? log : linear)(lo, hi, height - 48, 28), unit = all[0].metric === study.metric ? study.unit : "";
    const say = (/** @type {number} */ v) => (unit ? study.say(v) : number(v)), ticks = sy.ticks(5, unit);
    const area = { left: Math.min(width * 0.3, widest(ctx, ticks.map(say)) + 12), top: 28, right: width - 16, bottom: height - 48 };
    const sx = linear(0, Math.max(...all.map((r) => xs(r).at(-1) ?? 0)) * 1.02 || 1, area.left, area.right), n = Math.max(2, Math.floor(width / 110));
    const steps = view.by === "step";
    axes(ctx, area, { scale: sx, ticks: steps ? sx.ticks(n).filter(Number.isInteger) : timeTicks(0, sx.hi, n),
      text: (t) => (steps ? number(t) : t === 0 ? "0" : seconds(t)), title: steps ? "reports of the run" : "time since the run began" },
    { scale: sy, ticks, text: say, title: all[0].metric });
    spots.clear();
    for (const [i, r] of all.entries()) {
      const k = study.row.get(r.trial) ?? -1, best = k === study.bestRow, name = study.trials.state[k] ?? "done";
      ctx.strokeStyle = color(best ? "best" : name === "censored" ? "stopped" : "done");
      ctx.globalAlpha = best ? 1 : all.length > 40 ? 0.3 : 0.55;
      ctx.lineWidth = best ? 3 : 1.3;
      ctx.beginPath();
      for (const [j, x] of xs(r).entries()) ctx.lineTo(sx(x), sy(r.value[j]));
      ctx.stroke();
      const j = r.value.length - 1, x = sx(xs(r)[j]), y = sy(r.value[j]);
      mark(ctx, name, x, y, 3);
      spots.add(x, y, i);
    }
    ctx.globalAlpha = 1;
  }

  surface.follow(spots, (i) => {
    const k = study.row.get(all[spots.of[i]].trial);
    return [`${all[spots.of[i]].value.length} reports`, ...(k === undefined ? [] : study.about(k))];
  });
  const below = new Tabled(place, "the last report of each run", () => grid(["trial", "reports", "after", "value"], all.map((r) =>
    [String(r.trial), String(r.step.at(-1)), seconds(r.at_s.at(-1) ?? 0), number(r.value.at(-1) ?? null)]), "rrrr"));
  const update = () => load().then((now) => {
    all = now;
    surface.label(`The values of ${all[0]?.metric ?? study.metric} that ${all.length} runs reported. The table below has the last of each.`);
    below.update();
    surface.paint();
  }, () => {});
  update();
  return { update };
}
