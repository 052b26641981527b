import { median } from "./again.js";
import { axes } from "./axis.js";
import { choice, color, el, grid, Tabled } from "./dom.js";
import { count, number } from "./format.js";
import { ratios, repeated, spread } from "./runs.js";
import { linear, padded } from "./scale.js";
import { clip, font, Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

// most is how many strips are drawn.
const most = 16;

// noise draws the runs of configurations that were run more than once as strips with their
// medians: by configuration, and as parts of the median of their configuration by repetition (the
// first runs of all, the second ones, ...), by worker and by class of machine, where these are known.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @returns {Chart} */
export function noise(place, study) {
  let all = repeated(study);
  const view = { by: "configuration" };
  /** @type {Record<string, (r: import("./runs.js").Run) => string>} */
  const kinds = { repetition: (r) => `run ${r.nth}`, worker: (r) => r.worker, class: (r) => r.class };
  const groups = () => (view.by === "configuration" ? all : ratios(all, kinds[view.by]));
  const say = (/** @type {Num} */ v) => (view.by === "configuration" || v === null ? study.say(v) : number(v, 4) + " ×");
  const bar = el("div", { class: "bar" }), nothing = el("p", { class: "note" });
  place.append(bar, nothing);
  const controls = () => {
    const sd = spread(all);
    nothing.textContent = sd === null ? "No configuration has been run more than once."
      : `Runs of one configuration differ by ${number(100 * sd, 2)} % (standard deviation of ${count(all.reduce((a, g) => a + g.runs.length, 0))} runs ` +
        `of ${count(all.length)} configurations). A name has the values that differ from the best.`;
    bar.hidden = all.length === 0;
    surface.scroll.hidden = all.length === 0;
    const known = Object.keys(kinds).filter((k) => ratios(all, kinds[k]).length > 1);
    bar.replaceChildren(choice("by", [["configuration", "configuration"], ...known.map((k) => /** @type {[string, string]} */ ([k, k]))], view.by, (v) => {
      view.by = v;
      below.update();
      surface.paint();
    }));
  };
  const spots = new Spots();
  const surface = new Surface(place, { height: 200, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  function draw(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width) {
    const shown = groups().slice(0, most), high = 28, height = 62 + high * shown.length;
    if (surface.height !== height) {
      surface.height = height;
      return surface.paint();
    }
    const [lo, hi] = padded(shown.flatMap((g) => g.runs.map((r) => r.value)), false, 0.04);
    const box = { left: Math.min(width * 0.4, 260), top: 14, right: width - 24, bottom: height - 48 };
    const sx = linear(lo, hi, box.left, box.right), unit = view.by === "configuration" ? study.unit : "";
    axes(ctx, box, { scale: sx, ticks: sx.ticks(Math.max(2, Math.floor((box.right - box.left) / 90)), unit), text: say,
      title: view.by === "configuration" ? study.metric : `${study.metric}, of the median of its configuration` },
    { scale: (v) => v, ticks: [], text: () => "", title: "" });
    spots.clear();
    for (const [i, g] of shown.entries()) {
      const y = box.top + high * (i + 0.5);
      ctx.font = font(12);
      ctx.fillStyle = color("fg");
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      ctx.fillText(clip(ctx, `${visible(g.name)} (${g.runs.length})`, box.left - 12), box.left - 10, y);
      ctx.strokeStyle = color("grid");
      ctx.lineWidth = 1;
      ctx.strokeRect(box.left, Math.round(y) + 0.5, box.right - box.left, 0);
      ctx.fillStyle = color("done");
      ctx.globalAlpha = g.runs.length > 60 ? 0.3 : 0.65;
      for (const [k, r] of g.runs.entries()) {
        const x = sx(r.value), dy = ((k * 0.618034) % 1 - 0.5) * 12;
        ctx.fillRect(x - 2.5, y + dy - 2.5, 5, 5);
        spots.add(x, y + dy, i * 1e6 + k);
      }
      ctx.globalAlpha = 1;
      const m = Math.round(sx(median(g.runs.map((r) => r.value)) ?? 0));
      ctx.fillStyle = color("fg");
      ctx.fillRect(m - 1, y - 11, 2.5, 22);
    }
    surface.label(`${study.metric} of runs that repeat each other, by ${view.by}: ` + shown.map((g) =>
      `${visible(g.name)}, ${g.runs.length} runs, median ${say(median(g.runs.map((r) => r.value)))}`).join("; "));
  }

  surface.follow(spots, (i) => {
    const g = groups()[Math.floor(spots.of[i] / 1e6)], r = g.runs[spots.of[i] % 1e6];
    return [visible(g.name), `trial ${r.trial}, run ${r.nth}: ${say(r.value)}`, ...(r.worker ? [`on ${visible(r.worker)}`] : [])];
  }, 10);
  const below = new Tabled(place, "runs that repeat each other", () => grid([view.by, "runs", "least", "median", "greatest"], groups().map((g) => {
    const v = g.runs.map((r) => r.value).sort((a, b) => a - b);
    return [visible(g.name), count(v.length), say(v[0]), say(median(v)), say(v[v.length - 1])];
  }), "lrrrr"));
  controls();
  return { update: () => {
    all = repeated(study);
    controls();
    below.update();
    surface.later();
  } };
}
