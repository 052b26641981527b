import { axes, widest } from "./axis.js";
import { choice, color, el, grid, onTheme, Tabled } from "./dom.js";
import { count, money, number, seconds } from "./format.js";
import { linear, log, padded, timeTicks } from "./scale.js";
import { medians } from "./runs.js";
import { mark, states } from "./states.js";
import { clip, context, font, Spots, Surface } from "./surface.js";

/** @typedef {import("./study.js").Study} Study */

// colours of studies that are compared, with a dash each, since colour never stands alone.
/** @type {[string, number[]][]} */
export const lines = [
  ["done", []], ["stopped", [6, 3]], ["outside", [2, 3]], ["best", [10, 3, 2, 3]], ["failed", [4, 2]], ["muted", [1, 2]],
];

/** @type {Record<string, string>} */
const titles = { trials: "trials that ended", time: "time of the budget spent", money: "money spent on runs" };
/** @type {Record<string, (t: number) => string>} */
const texts = { trials: count, time: (t) => (t === 0 ? "0" : seconds(t)), money };

// above is the order in which marks are drawn, the last on top.
const above = ["failed", "infeasible", "censored", "done", "running"];

// history draws the best so far over trials, time or money: of one study with the mark of every
// trial, of several as lines. selection, which may be null, dims the trials outside it. A trial
// that runs is a ring that moves with study.now: at the time that it has run if that is the
// metric, otherwise in a lane of its own.
/** @param {HTMLElement} place @param {Study[]} studies @param {import("./filter.js").Selection | null} [selection] @param {number} [tall] @returns {Chart} */
export function history(place, studies, selection = null, tall = 340) {
  const one = studies.length === 1 ? studies[0] : null;
  const first = studies[0];
  const positive = () => studies.every((s) => s.trials.value.every((v) => v === null || v > 0));
  const priced = studies.every((s) => s.price > 0);
  const view = { x: one ? "trials" : "time", log: positive() && wide(studies), hidden: /** @type {Set<string>} */ (new Set()) };
  const grows = one !== null && one.metric === "elapsed" && !one.up;
  const spots = new Spots();

  const paint = () => surface.paint();
  const bar = el("div", { class: "bar" },
    choice("over", [["trials", "trials"], ["time", "time"], ...(priced ? [/** @type {[string, string]} */ (["money", "money"])] : [])], view.x,
      (v) => { view.x = v; paint(); }),
    positive() ? choice("scale", [[false, "linear"], [true, "log"]], view.log, (v) => { view.log = v; paint(); }) : null);
  place.append(bar);
  const keys = one ? legend(one, view.hidden, paint) : null;
  if (keys) bar.append(keys.box);
  const surface = new Surface(place, { height: tall, label: label(studies), draw, over: (ctx) => spots.ring(ctx, color("fg")) });
  let box = { left: 0, top: 0, right: 0, bottom: 0 }, sx = linear(0, 1, 0, 1), sy = sx;
  /** @type {Map<string, number>} the height of the lane of a state whose trials have no value */
  let lanes = new Map();
  /** @type {ReturnType<typeof medians>} */
  let middles = new Map();
  /** @type {{x: number, y: number, w: number}[]} */
  let labels = []; // where texts are

  // running returns the rows that run, with where they are on the axis.
  function running(/** @type {Study} */ s) {
    const last = s.ended.at(-1), t = s.trials;
    const end = last === undefined ? s.start : t.ended_ms[last] ?? t.started_ms[last] + 1000 * (t.elapsed_s[last] ?? 0);
    const spent = last === undefined ? 0 : t.spent_s[last] ?? 0;
    const rows = t.state.flatMap((name, k) => (name === "running" ? [k] : []));
    return rows.map((k, i) => ({ k, ran: s.ran(k),
      x: view.x === "trials" ? s.ended.length + 1 + i
        : view.x === "time" ? spent + Math.max(0, s.now - end) / 1000
          : (last === undefined ? 0 : s.paid[last] ?? 0) + (s.ran(k) ?? 0) * s.price }));
  }

  // scales fits the axes to the shown trials, and returns the ticks of the values.
  function scales(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width, /** @type {number} */ height) {
    /** @type {Num[]} */
    const values = [];
    let most = 0, bare = 0;
    for (const s of studies) {
      for (const k of s.ended) {
        most = Math.max(most, s.at(k, view.x));
        const v = s.trials.value[k], name = s.trials.state[k];
        if (v === null) bare++;
        else if (one && !view.hidden.has(name)) values.push(v);
      }
      if (!one) {
        if (view.x === "time") most = Math.max(most, s.spent_s);
        for (const k of s.sofar) values.push(s.trials.value[k]);
      }
    }
    middles = one ? medians(one) : middles;
    for (const m of middles.values()) values.push(m.value);
    const now = one && !view.hidden.has("running") ? running(one) : [];
    for (const r of now) {
      most = Math.max(most, r.x);
      if (grows && r.ran) values.push(r.ran);
    }
    const [lo, hi] = padded(values, view.log);
    lanes = new Map();
    if (one && bare && !view.hidden.has("failed")) lanes.set("failed", 40);
    if (one && !grows && now.length) lanes.set("running", 40 + 22 * lanes.size);
    sy = (view.log ? log : linear)(lo, hi, height - 52, 34 + 22 * lanes.size);
    const ticks = sy.ticks(6, first.unit);
    const left = Math.min(width * 0.3, widest(ctx, [...ticks.map((t) => first.say(t)), ...lanes.keys()]) + 12);
    box = { left, top: 34, right: width - 16, bottom: height - 52 };
    sx = linear(0, most * 1.02 || 1, left, box.right);
    return { ticks, now };
  }

  function draw(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width, /** @type {number} */ height) {
    const { ticks, now } = scales(ctx, width, height);
    const n = Math.max(2, Math.floor((box.right - box.left) / 80));
    const xTicks = (view.x === "time" ? timeTicks(0, sx.hi, n) : sx.ticks(n)).filter((t) => view.x !== "trials" || Number.isInteger(t));
    axes(ctx, box, { scale: sx, ticks: xTicks, text: texts[view.x], title: titles[view.x] },
      { scale: sy, ticks, text: (t) => first.say(t), title: `${first.metric}, ${first.up ? "more" : "less"} is better` });
    spots.clear();
    labels = [];
    if (one) marks(ctx, one, now);
    if (one) middle(ctx, one);
    for (const [i, s] of studies.entries()) step(ctx, s, one ? ["best", []] : lines[i % lines.length], i);
  }

  function marks(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Study} */ s, /** @type {{k: number, x: number, ran: Num}[]} */ now) {
    const mask = selection && !selection.empty ? selection.mask() : null;
    const many = s.ended.length > 3000, size = many ? 2 : s.ended.length > 800 ? 2.5 : 3.5;
    ctx.fillStyle = color("muted");
    ctx.font = font();
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const [name, y] of lanes) ctx.fillText(name, box.left - 8, y);
    const t = s.trials;
    for (const k of s.ended) {
      if (view.hidden.has(t.state[k])) continue;
      const v = t.value[k];
      spots.add(sx(s.at(k, view.x)), v === null ? lanes.get("failed") ?? 40 : sy(v), k);
    }
    const ends = spots.n;
    for (const r of now) spots.add(sx(r.x), grows && r.ran ? sy(r.ran) : lanes.get("running") ?? 40, r.k);
    // One mark is drawn if several would cover each other; many are the same pixels.
    const across = Math.ceil(surface.width / 2), taken = many ? new Uint8Array(across * Math.ceil(surface.height / 2)) : null;
    /** @type {Map<string, number[]>} */
    const byState = new Map(above.map((name) => [name, []]));
    for (let i = 0; i < spots.n; i++) byState.get(t.state[spots.of[i]])?.push(i);
    for (const [name, indices] of byState) {
      taken?.fill(0);
      for (const i of indices) {
        const k = spots.of[i], x = spots.x[i], y = spots.y[i];
        const meant = !mask || mask[k] === 1;
        if (taken) {
          const cell = (y >> 1) * across + (x >> 1);
          if (taken[cell] >= (meant ? 2 : 1)) continue;
          taken[cell] = meant ? 2 : 1;
        }
        ctx.globalAlpha = !meant ? 0.12 : name === "done" || name === "running" ? 0.85 : 0.7;
        const p = t.predicted[k];
        if (name === "censored" && p !== null && !many && (!view.log || p > 0)) {
          whisker(ctx, x, y - size, Math.min(Math.max(sy(p), box.top), box.bottom), "stopped");
        }
        if (i >= ends && grows) whisker(ctx, x, box.bottom, y + size, "muted");
        mark(ctx, name, x, y, name === "running" ? 4 : size);
      }
    }
    ctx.globalAlpha = 1;
  }

  // middle draws the median of each configuration that was run again, with a line from the run that chose it.
  function middle(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Study} */ s) {
    ctx.fillStyle = color("fg");
    for (const [k, m] of middles) {
      const x = sx(s.at(k, view.x)), y = sy(m.value);
      whisker(ctx, x, sy(s.trials.value[k] ?? m.value), y, "fg");
      ctx.fillRect(x - 6, y - 1.5, 12, 3);
    }
  }

  // whisker leads from a stopped run to its expected value, and to a run that goes on.
  function whisker(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ x, /** @type {number} */ from, /** @type {number} */ to,
    /** @type {string} */ tone) {
    ctx.strokeStyle = color(tone);
    ctx.lineWidth = 1;
    ctx.setLineDash([1, 3]);
    ctx.beginPath();
    ctx.moveTo(x, from);
    ctx.lineTo(x, to);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  function step(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Study} */ s, /** @type {[string, number[]]} */ [name, dash], /** @type {number} */ of) {
    const last = s.ended.at(-1), best = s.sofar.at(-1);
    if (best === undefined || last === undefined) return;
    ctx.strokeStyle = color(name);
    ctx.lineWidth = 2;
    ctx.setLineDash(dash);
    ctx.beginPath();
    let y = 0;
    for (const [i, k] of s.sofar.entries()) {
      const x = sx(s.at(k, view.x)), to = sy(s.trials.value[k] ?? 0);
      if (i > 0) ctx.lineTo(x, y);
      ctx.lineTo(x, to);
      y = to;
      if (!one) spots.add(x, y, of * 1e9 + k);
    }
    ctx.lineTo(sx(view.x === "time" && !one ? s.spent_s : s.at(last, view.x)), y);
    ctx.stroke();
    ctx.setLineDash([]);
    const chosen = one && s.answer ? s.row.get(s.answer.trial) : undefined, m = chosen === undefined ? undefined : middles.get(chosen);
    const bx = sx(s.at(m && chosen !== undefined ? chosen : best, view.x));
    if (m) y = sy(m.value);
    ctx.beginPath();
    ctx.arc(bx, y, 6, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.font = font(12, "600");
    const shown = clip(ctx, m ? `median of ${m.runs} runs ${s.say(m.value)}`
      : (one ? "best so far " : s.study + " ") + s.value(best), box.right - box.left);
    const w = ctx.measureText(shown).width;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    const tx = Math.max(box.left, Math.min(bx + 10, box.right - w));
    let ty = y + 10 > box.bottom - 16 ? y - 24 : y + 9;
    while (labels.some((l) => Math.abs(l.y - ty) < 18 && tx < l.x + l.w && l.x < tx + w)) ty -= 18;
    labels.push({ x: tx, y: ty, w });
    ctx.globalAlpha = 0.85;
    ctx.fillStyle = color("card");
    ctx.fillRect(tx - 3, ty - 2, w + 6, 17);
    ctx.globalAlpha = 1;
    ctx.fillStyle = color(name);
    ctx.fillText(shown, tx, ty);
  }

  surface.follow(spots, (i) => {
    const s = studies[Math.floor(spots.of[i] / 1e9)], k = spots.of[i] % 1e9, t = s.trials;
    const where = t.nth[k] > 0
      ? [`${count(t.nth[k])}. to end, ${seconds(t.spent_s[k])} spent` + (priced ? `, ${money(s.paid[k])} of money` : "")] : [];
    const m = middles.get(k);
    return [...(one ? [] : [s.study]), ...s.about(k), ...(m ? [`median of ${m.runs} runs ${s.say(m.value)}`] : []), ...where];
  }, 28);
  if (selection) selection.listen(() => surface.later());
  const below = new Tabled(place, "each new best", () => improvements(studies, priced));
  return { update: () => {
    surface.label(label(studies));
    keys?.update();
    below.update();
    surface.later();
  } };
}

// wide reports whether values spread so that a linear scale shows only the worst.
/** @param {Study[]} studies */
function wide(studies) {
  const all = /** @type {number[]} */ (studies.flatMap((s) => s.trials.value.filter((v) => v !== null))).sort((a, b) => a - b);
  return all.length > 4 && all[all.length - 1] > 4 * all[Math.floor(all.length / 4)];
}

// legend has a button for each state, which shows and hides its marks.
/** @param {Study} s @param {Set<string>} hidden @param {() => void} paint */
function legend(s, hidden, paint) {
  const box = el("div", { class: "legend" });
  const all = states.map((st) => {
    const sample = el("canvas", { width: 28, height: 28, "aria-hidden": "true" });
    sample.style.width = sample.style.height = "14px";
    const ctx = context(sample);
    ctx.scale(2, 2);
    const text = el("span", {});
    const button = el("button", { type: "button", "aria-pressed": "true", title: st.about, onclick: () => {
      const off = hidden.delete(st.name);
      if (!off) hidden.add(st.name);
      button.setAttribute("aria-pressed", String(off));
      paint();
    } }, sample, text);
    box.append(button);
    const redraw = () => { ctx.clearRect(0, 0, 14, 14); mark(ctx, st.name, 7, 7, 4); };
    redraw();
    onTheme(redraw);
    return { st, button, text };
  });
  const update = () => {
    const counts = new Map();
    for (const name of s.trials.state) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const { st, button, text } of all) {
      button.hidden = !counts.has(st.name);
      text.textContent = `${st.text} ${count(counts.get(st.name) ?? 0)}`;
    }
  };
  update();
  return { box, update };
}

/** @param {Study[]} studies */
function label(studies) {
  return studies.map((s) => (s.sofar.length > 0
    ? `${s.study}: best so far of ${s.metric} in ${s.n} trials, from ${s.value(s.sofar[0])} to ${s.value(s.sofar[s.sofar.length - 1])} in ` +
      `${s.sofar.length} steps. Arrow keys go from trial to trial; the table below has the steps.`
    : `${s.study}: ${s.n} trials, none of which ended within the limits.`)).join(" ");
}

// improvements is the same as a table: each trial that was the best when it ended.
/** @param {Study[]} studies @param {boolean} priced */
function improvements(studies, priced) {
  const several = studies.length > 1;
  const head = [...(several ? ["study"] : []), "trial", "value", "time spent", ...(priced ? ["money spent"] : []), "configuration"];
  const rows = studies.flatMap((s) => s.sofar.map((k) => [
    ...(several ? [s.study] : []), number(s.trials.id[k], 12), s.say(s.trials.value[k]), seconds(s.trials.spent_s[k]),
    ...(priced ? [money(s.paid[k])] : []), s.config(k)]));
  return grid(head, rows, (several ? "l" : "") + "rrr" + (priced ? "r" : ""));
}
