import { cells } from "./cells.js";
import { color, el, grid, Tabled } from "./dom.js";
import { count, number } from "./format.js";
import { clip, font, Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

const high = 46, top = 6;

// space draws the values of each parameter: the more trials had one, the stronger its colour; a
// star is where the best trial is; values that earlier studies have pruned are crossed out, with why.
// space calls restore, if there is one, with a cut that a person wants back.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @param {{restore?: (cut: Cut) => void}} [options] @returns {Chart} */
export function space(place, study, { restore } = {}) {
  let all = study.params.map((_, i) => cells(study, i));
  const spots = new Spots();
  const said = el("p", { class: "note" });
  place.append(said);
  const surface = new Surface(place, { height: top + high * study.params.length, label: "", draw, over: (ctx) => {
    if (spots.chosen < 0) return;
    const [x, y, w, h] = boxes[spots.chosen];
    ctx.strokeStyle = color("accent");
    ctx.lineWidth = 2;
    ctx.strokeRect(x, y, w, h);
  } });
  /** @type {[number, number, number, number][]} */
  let boxes = [];

  function draw(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width) {
    spots.clear();
    boxes = [];
    const left = Math.min(150, width * 0.3), room = width - left - 8;
    for (const [i, of] of all.entries()) {
      const y = top + i * high, w = room / of.length, most = Math.max(1, ...of.map((c) => c.trials));
      ctx.font = font(12, "600");
      ctx.fillStyle = color("fg");
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      ctx.fillText(clip(ctx, visible(study.params[i].name), left - 14), left - 10, y + 13);
      ctx.font = font(11);
      ctx.textAlign = "center";
      const every = Math.max(1, Math.ceil(46 / w));
      for (const [k, c] of of.entries()) {
        const x = left + k * w;
        ctx.fillStyle = color("accent");
        ctx.globalAlpha = 0.06 + 0.5 * (c.trials / most);
        ctx.fillRect(x + 1, y, w - 2, 26);
        ctx.globalAlpha = 1;
        if (c.cut) hatch(ctx, x + 1, y, w - 2, 26);
        ctx.fillStyle = color("fg");
        const text = (c.top ? "★ " : "") + (c.cut ? "✕" : c.trials ? count(c.trials) : "");
        const fits = ctx.measureText(text).width < w - 2;
        if (fits || c.top || c.cut) ctx.fillText(c.top && !fits ? "★" : text, x + w / 2, y + 14);
        ctx.fillStyle = color("muted");
        if (k % every === 0) {
          const middle = every === 1 || study.params[i].levels;
          ctx.textAlign = middle ? "center" : "left";
          ctx.fillText(clip(ctx, middle ? visible(c.text) : number(c.lo, 3), w * every - 4), middle ? x + w / 2 : x + 1, y + 36);
          ctx.textAlign = "center";
        }
        boxes.push([x + 1, y, w - 2, 26]);
        spots.add(x + w / 2, y + 13, i * 1e4 + k);
      }
    }
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} w @param {number} h */
  function hatch(ctx, x, y, w, h) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, w, h);
    ctx.clip();
    ctx.strokeStyle = color("failed");
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (let d = -h; d < w; d += 7) {
      ctx.moveTo(x + d, y + h);
      ctx.lineTo(x + d + h, y);
    }
    ctx.stroke();
    ctx.restore();
  }

  const why = (/** @type {Cut} */ cut) => {
    const text = `${visible(cut.study)}: ${visible(cut.reason)}`, bound = cut.threshold ?? null;
    if (cut.restored) return text;
    return `${text} (correlation ${number(cut.correlation, 2)}` + (bound === null ? ")" : `; no trial with it reached ${study.say(bound)} there)`);
  };
  surface.follow(spots, (n) => {
    const i = Math.floor(spots.of[n] / 1e4), c = all[i][spots.of[n] % 1e4];
    return [`${visible(study.params[i].name)}: ${visible(c.text)}`, `${count(c.trials)} trials`, ...(c.best === null ? [] : [`best ${study.say(c.best)}`]),
      ...(c.top ? ["the best trial is here"] : []), ...(c.cut ? ["pruned by " + why(c.cut)] : [])];
  }, 60);
  const below = new Tabled(place, "values and their trials", () => grid(["parameter", "value", "trials", `best ${study.metric}`, "pruned"],
    all.flatMap((of, i) => of.map((c) =>
      [visible(study.params[i].name), visible(c.text), count(c.trials), study.say(c.best), c.cut ? why(c.cut) : ""])), "llrrl"));
  const cuts = new Tabled(place, "values pruned by earlier studies", () => grid(["parameter", "values", "now", "why", ...(restore ? [""] : [])],
    study.cuts.map((c) => [visible(c.param), visible(c.values.join(", ")), c.restored ? "is back" : "pruned", why(c),
      ...(restore ? [c.restored ? "" : el("button", { type: "button", onclick: () => restore(c) }, "restore")] : [])])));
  const say = () => {
    cuts.box.hidden = study.cuts.length === 0;
    const gone = all.flat().filter((c) => c.cut).length;
    said.textContent = gone ? `${count(gone)} values or parts of a range are pruned (✕), the best trial is at the stars.` : "The best trial is at the stars.";
    surface.label(`The values of ${study.params.length} parameters with the number of trials of each. ` + all.map((of, i) =>
      `${visible(study.params[i].name)}: ${of.filter((c) => c.trials).length} of ${of.length} tried` +
      (of.some((c) => c.cut) ? `, pruned ${of.filter((c) => c.cut).map((c) => visible(c.text)).join(", ")}` : "")).join("; "));
  };
  say();
  return { update: () => {
    all = study.params.map((_, i) => cells(study, i));
    say();
    below.update();
    cuts.update();
    surface.later();
  } };
}
