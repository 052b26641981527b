import { color, el, grid, Tabled } from "./dom.js";
import { number, seconds } from "./format.js";
import { linear } from "./scale.js";
import { axes } from "./axis.js";
import { clip, font, Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

/** @type {Record<string, string>} */
const tones = { compute: "done", network: "stopped", disk: "outside", stall: "failed" };

// occupancy draws the parts of a predicted time (compute, network, disk, stall) as a bar, and
// the interval of the prediction below it. update takes another prediction.
/** @param {HTMLElement} place @param {Predicted} predicted @returns {Chart & {predict: (p: Predicted) => void}} */
export function occupancy(place, predicted) {
  const parts = () => Object.entries(predicted.parts_s ?? { time: predicted.seconds }).filter(([, s]) => s > 0);
  const spots = new Spots();
  const surface = new Surface(place, { height: 150, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    const all = parts(), sum = all.reduce((a, [, s]) => a + s, 0), open = predicted.high_s === null;
    const hi = Math.max(sum, predicted.seconds, predicted.high_s ?? predicted.seconds * 2) * 1.04 || 1;
    const box = { left: 8, top: 10, right: width - 24, bottom: height - 48 }, sx = linear(0, hi, box.left, box.right);
    axes(ctx, box, { scale: sx, ticks: sx.ticks(Math.max(2, Math.floor(width / 110)), "s"), text: seconds, title: "predicted time" },
      { scale: (v) => v, ticks: [], text: () => "", title: "" });
    spots.clear();
    let at = 0;
    ctx.font = font(12, "600");
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const [i, [name, s]] of all.entries()) {
      const x = sx(at), w = sx(at + s) - x;
      ctx.fillStyle = color(tones[name] ?? "muted");
      ctx.fillRect(x, box.top + 6, Math.max(1, w - 2), 34);
      ctx.fillStyle = color("card");
      const text = `${visible(name)} ${number((100 * s) / sum, 2)} %`;
      if (w > 40) ctx.fillText(clip(ctx, text, w - 6), x + w / 2, box.top + 24);
      spots.add(x + w / 2, box.top + 23, i);
      at += s;
    }
    const from = sx(predicted.low_s), to = open ? box.right : sx(predicted.high_s ?? 0), mid = sx(predicted.seconds), y = box.top + 62;
    ctx.strokeStyle = color("fg");
    ctx.fillStyle = color("fg");
    ctx.lineWidth = 2;
    ctx.setLineDash(open ? [4, 3] : []);
    ctx.beginPath();
    ctx.moveTo(from, y);
    ctx.lineTo(to, y);
    ctx.stroke();
    ctx.setLineDash([]);
    for (const x of open ? [from] : [from, to]) ctx.fillRect(x - 1, y - 6, 2, 12);
    ctx.beginPath();
    ctx.arc(mid, y, 5, 0, 2 * Math.PI);
    ctx.fill();
    surface.label(`Predicted ${seconds(predicted.seconds)}, ${interval()}: ` +
      all.map(([name, s]) => `${visible(name)} ${seconds(s)}, ${number((100 * s) / sum, 2)} %`).join("; "));
  }

  const interval = () => (predicted.high_s === null ? `at least ${seconds(predicted.low_s)}, without an upper bound`
    : `${seconds(predicted.low_s)} to ${seconds(predicted.high_s)}`);
  const beyond = el("p", { class: "warn" });
  const say = () => {
    beyond.hidden = !predicted.extrapolated?.length;
    beyond.textContent = "Outside the range of the runs: " + (predicted.extrapolated ?? []).map(visible).join("; ");
  };
  surface.follow(spots, (i) => {
    const [name, s] = parts()[spots.of[i]];
    return [visible(name), seconds(s)];
  }, 60);
  place.append(beyond);
  const below = new Tabled(place, "time by part", () => {
    const all = parts(), sum = all.reduce((a, [, s]) => a + s, 0);
    return grid(["part", "time", "share"], [...all.map(([name, s]) => [visible(name), seconds(s), number((100 * s) / sum, 3) + " %"]),
      ["in all", seconds(predicted.seconds), interval()]], "lrr");
  });
  say();
  return { update: () => surface.later(), predict: (p) => {
    predicted = p;
    say();
    below.update();
    surface.later();
  } };
}
