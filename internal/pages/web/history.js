import { axes, widest } from "./axis.js";
import { choice, color, el, grid } from "./dom.js";
import { count, metric, money, number, seconds } from "./format.js";
import { linear, log, padded, timeTicks } from "./scale.js";
import { mark, states } from "./states.js";
import { clip, font, Surface } from "./surface.js";

// colours of studies that are compared, with a dash each, since colour never says anything alone.
export const lines = [
  ["done", []], ["stopped", [6, 3]], ["outside", [2, 3]], ["best", [10, 3, 2, 3]], ["failed", [4, 2]], ["muted", [1, 2]],
];

// history draws the best so far over trials, time or money: of one study with the mark of every
// trial, of several as lines. selection, which may be null, dims what it does not mean.
export function history(place, studies, selection = null) {
  const one = studies.length === 1 ? studies[0] : null;
  const priced = studies.every((s) => s.price > 0);
  const first = studies[0];
  const positive = studies.every((s) => s.trials.value.every((v) => v === null || v > 0));
  const view = { x: one ? "trials" : "time", log: positive && wide(studies), hidden: new Set(), at: -1 };

  const titles = { trials: "trials that ended", time: "time of the budget spent", money: "money spent on runs" };
  const texts = { trials: (t) => count(t), time: (t) => (t === 0 ? "0" : seconds(t)), money: (t) => money(t) };

  const bar = el("div", { class: "bar" },
    choice("over", [["trials", "trials"], ["time", "time"], ...(priced ? [["money", "money"]] : [])], view.x,
      (v) => { view.x = v; surface.paint(); }),
    positive ? choice("scale", [[false, "linear"], [true, "log"]], view.log, (v) => { view.log = v; surface.paint(); }) : null);
  place.append(bar);
  if (one) place.append(legend(one, view, () => surface.paint()));

  const surface = new Surface(place, { height: 340, label: label(studies), draw });
  let box = null, sx = null, sy = null, points = [];

  function scales(ctx, width, height) {
    const values = [], xs = [0];
    for (const s of studies) {
      for (const k of s.ended) {
        xs.push(s.at(k, view.x) ?? 0);
        const v = s.trials.value[k];
        if (v !== null && !view.hidden.has(s.trials.state[k]) && (one || s.trials.state[k] === "done")) values.push(v);
      }
      if (!one) xs.push(view.x === "time" ? s.spent_s : 0);
    }
    const [lo, hi] = padded(one ? values : studies.flatMap((s) => s.sofar.map((k) => s.trials.value[k])), view.log);
    const lane = one && s0(one, "failed") && !view.hidden.has("failed") ? 22 : 0;
    const kind = view.log ? log : linear;
    const y0 = kind(lo, hi, height - 52, 34 + lane);
    const ticks = y0.ticks(6, first.unit);
    const left = Math.min(width * 0.3, widest(ctx, [...ticks.map((t) => first.say(t)), lane ? "failed" : ""]) + 12);
    box = { left, top: 34, right: width - 16, bottom: height - 52, lane };
    sx = linear(0, xs.reduce((a, b) => Math.max(a, b), 0) * 1.02 || 1, left, box.right);
    sy = y0;
    return ticks;
  }

  function draw(ctx, width, height) {
    const yTicks = scales(ctx, width, height);
    const n = Math.max(2, Math.floor((box.right - box.left) / 80));
    const xTicks = (view.x === "time" ? timeTicks(0, sx.hi, n) : sx.ticks(n)).filter((t) => view.x !== "trials" || Number.isInteger(t));
    axes(ctx, box, { scale: sx, ticks: xTicks, text: texts[view.x], title: titles[view.x] },
      { scale: sy, ticks: yTicks, text: (t) => first.say(t), title: `${first.metric}, ${first.up ? "more" : "less"} is better` });
    points = [];
    if (one) marks(ctx, one);
    for (const [i, s] of studies.entries()) step(ctx, s, one ? ["best", []] : lines[i % lines.length]);
    if (view.at >= 0 && points[view.at]) ring(ctx, points[view.at]);
  }

  function marks(ctx, s) {
    const mask = selection ? selection.mask() : null;
    const size = s.n > 3000 ? 2 : s.n > 800 ? 2.5 : 3.5;
    if (box.lane) {
      ctx.fillStyle = color("muted");
      ctx.font = font();
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      ctx.fillText("failed", box.left - 8, box.top + 6);
    }
    const order = [...s.ended].sort((a, b) => rank(s.trials.state[a]) - rank(s.trials.state[b]));
    for (const k of order) {
      const name = s.trials.state[k];
      if (view.hidden.has(name) || name === "withdrawn") continue;
      const x = sx(s.at(k, view.x));
      const y = name === "failed" || s.trials.value[k] === null ? box.top + 6 : sy(s.trials.value[k]);
      ctx.globalAlpha = mask && !mask[k] ? 0.12 : name === "done" ? 0.85 : 0.7;
      mark(ctx, name, x, y, size);
      points.push({ x, y, k, s });
    }
    ctx.globalAlpha = 1;
    points.sort((a, b) => a.x - b.x);
  }

  function step(ctx, s, [name, dash]) {
    const rows = s.sofar;
    if (rows.length === 0) return;
    ctx.strokeStyle = color(name);
    ctx.lineWidth = 2;
    ctx.setLineDash(dash);
    ctx.beginPath();
    let y = 0;
    for (const [i, k] of rows.entries()) {
      const x = sx(s.at(k, view.x));
      if (i === 0) ctx.moveTo(x, sy(s.trials.value[k]));
      else {
        ctx.lineTo(x, y);
        ctx.lineTo(x, sy(s.trials.value[k]));
      }
      y = sy(s.trials.value[k]);
      if (!one) points.push({ x, y, k, s });
    }
    const last = s.ended.at(-1);
    const end = view.x === "time" && !one ? s.spent_s : s.at(last, view.x);
    ctx.lineTo(sx(end), y);
    ctx.stroke();
    ctx.setLineDash([]);
    const best = rows.at(-1);
    const bx = sx(s.at(best, view.x));
    ctx.beginPath();
    ctx.arc(bx, y, 6, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.font = font(12, "600");
    ctx.fillStyle = color(name);
    const text = (one ? "best so far " : s.study + " ") + s.value(best);
    const shown = clip(ctx, text, box.right - box.left);
    const w = ctx.measureText(shown).width;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    const tx = Math.max(box.left, Math.min(bx + 10, box.right - w));
    const ty = y + 10 > box.bottom - 16 ? y - 24 : y + 9;
    ctx.globalAlpha = 0.85;
    ctx.fillStyle = color("card");
    ctx.fillRect(tx - 3, ty - 2, w + 6, 17);
    ctx.globalAlpha = 1;
    ctx.fillStyle = color(name);
    ctx.fillText(shown, tx, ty);
  }

  function ring(ctx, p) {
    ctx.strokeStyle = color("fg");
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(p.x, p.y, 8, 0, 2 * Math.PI);
    ctx.stroke();
  }

  function show(i, spoken) {
    view.at = i;
    surface.later();
    const p = points[i];
    if (!p) return surface.say(0, 0, null);
    const t = p.s.trials;
    const where = [`${count(t.nth[p.k])}. to end, ${seconds(t.spent[p.k])} spent` + (priced ? `, ${money(p.s.paid[p.k])} of money` : "")];
    surface.say(p.x, p.y, [...(one ? [] : [p.s.study]), ...p.s.about(p.k), ...where], spoken);
  }

  surface.canvas.addEventListener("pointermove", (e) => {
    const [x, y] = surface.at(e);
    let best = -1, d = 28 * 28;
    for (const [i, p] of points.entries()) {
      const q = (p.x - x) ** 2 + (p.y - y) ** 2;
      if (q < d) [best, d] = [i, q];
    }
    if (best !== view.at) show(best, false);
  });
  surface.canvas.addEventListener("pointerleave", () => show(-1, false));
  surface.canvas.addEventListener("blur", () => show(-1, false));
  surface.canvas.addEventListener("keydown", (e) => {
    const to = { ArrowRight: view.at + 1, ArrowLeft: view.at - 1, Home: 0, End: points.length - 1 }[e.key];
    if (e.key === "Escape") return show(-1, false);
    if (to === undefined || points.length === 0) return;
    e.preventDefault();
    show(Math.min(Math.max(to, 0), points.length - 1), true);
  });
  if (selection) selection.listen(() => surface.later());
  place.append(improvements(studies, priced));
}

const rank = (name) => ["withdrawn", "running", "failed", "infeasible", "censored", "done"].indexOf(name);

const s0 = (s, name) => s.trials.state.includes(name);

// wide reports whether values spread so that a linear scale shows only the worst.
function wide(studies) {
  const all = studies.flatMap((s) => s.trials.value.filter((v) => v !== null)).sort((a, b) => a - b);
  return all.length > 4 && all.at(-1) > 4 * all[Math.floor(all.length / 4)];
}

function legend(s, view, paint) {
  const box = el("div", { class: "legend" });
  for (const st of states) {
    const n = s.trials.state.filter((x) => x === st.name).length;
    if (n === 0) continue;
    const sample = el("canvas", { width: 28, height: 28, "aria-hidden": "true" });
    sample.style.width = sample.style.height = "14px";
    const ctx = sample.getContext("2d");
    ctx.scale(2, 2);
    const button = el("button", { type: "button", "aria-pressed": "true", title: st.about, onclick: () => {
      const off = view.hidden.has(st.name);
      if (off) view.hidden.delete(st.name);
      else view.hidden.add(st.name);
      button.setAttribute("aria-pressed", String(off));
      paint();
    } }, sample, `${st.text} ${count(n)}`);
    box.append(button);
    const redraw = () => { ctx.clearRect(0, 0, 14, 14); mark(ctx, st.name, 7, 7, 4); };
    redraw();
    addEventListener("assay-theme", redraw);
  }
  return box;
}

function label(studies) {
  return studies.map((s) => (s.bestRow >= 0
    ? `${s.study}: best so far of ${s.metric} in ${s.n} trials, from ${s.value(s.sofar[0])} to ${s.value(s.bestRow)} in ` +
      `${s.sofar.length} steps. Arrow keys go from trial to trial; the table below has the steps.`
    : `${s.study}: ${s.n} trials, none of which ended within the limits.`)).join(" ");
}

// improvements is the same as a table: each trial that was the best when it ended.
function improvements(studies, priced) {
  const head = [...(studies.length > 1 ? ["study"] : []), "trial", "value", "time spent", ...(priced ? ["money spent"] : []), "configuration"];
  const rows = studies.flatMap((s) => s.sofar.map((k) => [
    ...(studies.length > 1 ? [s.study] : []), number(s.trials.id[k], 12), metric(s.trials.value[k], s.unit), seconds(s.trials.spent[k]),
    ...(priced ? [money(s.paid[k])] : []), s.config(k)]));
  const align = (studies.length > 1 ? "l" : "") + "rrr" + (priced ? "r" : "");
  return el("details", {}, el("summary", {}, "As a table: each new best"), el("div", { class: "scroll" }, grid(head, rows, align)));
}
