import { axes, widest } from "./axis.js";
import { color, el, grid, select, Tabled, toggle } from "./dom.js";
import { count, metric } from "./format.js";
import { pareto } from "./pareto.js";
import { keep, recall } from "./prefs.js";
import { linear, log, padded } from "./scale.js";
import { mark } from "./states.js";
import { halo, Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

/** @typedef {import("./study.js").Study} Study */

// front draws any two metrics of the trials against each other, and the trials that no other one
// beats in both. The browser keeps the two metrics, and which way is better.
/** @param {HTMLElement} place @param {Study} study @param {import("./filter.js").Selection | null} [selection] @param {number} [tall] @returns {Chart} */
export function front(place, study, selection = null, tall = 340) {
  const names = metricsOf(study);
  const kept = recall("front:" + study.study, /** @type {Record<string, any>} */ ({}));
  // other returns the metric that is drawn against the objective: the second objective, a metric with a limit, or a cost.
  const other = () => [study.objectives[1]?.metric, study.answer?.limits?.[0]?.metric, "elapsed", "max_rss", ...names]
    .find((n) => n !== undefined && n !== names[0] && names.includes(n)) ?? names[0];
  /** @type {Record<"x" | "y", {name: string, up: boolean, log: boolean}>} */
  const view = { x: axis("x", other()), y: axis("y", names[0]) };

  function axis(/** @type {"x" | "y"} */ which, /** @type {string} */ otherwise) {
    const k = kept[which];
    if (k && names.includes(k.name)) return { name: String(k.name), up: Boolean(k.up), log: Boolean(k.log) };
    return { name: otherwise, up: upOf(otherwise), log: false };
  }
  // upOf reports whether more of a metric is better, by the study's objectives.
  function upOf(/** @type {string} */ name) {
    return study.objectives.some((o) => o.metric === name && o.goal === "maximize");
  }

  const bar = el("div", { class: "bar" });
  place.append(bar);
  const controls = () => bar.replaceChildren(...(/** @type {const} */ (["x", "y"])).flatMap((w) => {
    const v = view[w], set = () => {
      kept.x = true;
      keep("front:" + study.study, view);
      controls();
      changed();
    };
    return [select(w === "x" ? "across" : "upwards", names.map((n) => [n, visible(n)]), v.name, (name) => {
      view[w] = { name, up: upOf(name), log: v.log };
      set();
    }), el("button", { type: "button", title: "reverse the direction", onclick: () => { v.up = !v.up; set(); } }, v.up ? "more is better" : "less is better"),
    toggle("log", v.log, (on) => { v.log = on; set(); })];
  }));
  const spots = new Spots();
  const surface = new Surface(place, { height: tall, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });

  const values = (/** @type {string} */ name) => (name === study.metric ? study.trials.value : study.trials.metrics[name] ?? []);
  const say = (/** @type {string} */ name, /** @type {Num | undefined} */ v) => metric(v, study.unitOf(name));

  // found returns the rows with both metrics, and the ones in the front, which ran to their end
  // within the limits.
  function found() {
    const xs = values(view.x.name), ys = values(view.y.name), mask = selection && !selection.empty ? selection.mask() : null;
    const rows = [], points = [], own = /** @type {number[]} */ ([]);
    for (let k = 0; k < study.n; k++) {
      const x = xs[k] ?? null, y = ys[k] ?? null;
      if (x === null || y === null || study.trials.state[k] === "running") continue;
      rows.push(k);
      if (study.trials.state[k] !== "done" || (mask && !mask[k])) continue;
      own.push(k);
      points.push({ x, y });
    }
    return { rows, best: known(rows) ?? pareto(points, [view.x.up, view.y.up]).map((i) => own[i]), xs, ys, mask };
  }

  // known returns the rows of the front that the answer has, which counts the runs that repeat a trial.
  function known(/** @type {number[]} */ rows) {
    const [a, b] = study.objectives;
    if (!study.front || study.objectives.length !== 2 || view.y.name !== a.metric || view.x.name !== b.metric || selection?.empty === false) return null;
    if (view.y.up !== upOf(a.metric) || view.x.up !== upOf(b.metric)) return null;
    const has = new Set(rows), found = study.front.front.flatMap((m) => study.row.get(m.trial) ?? []).filter((k) => has.has(k));
    const xs = values(view.x.name);
    return found.sort((p, q) => (view.x.up ? -1 : 1) * ((xs[p] ?? 0) - (xs[q] ?? 0)));
  }

  function draw(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width, /** @type {number} */ height) {
    const { rows, best, xs, ys, mask } = found();
    const side = (/** @type {"x" | "y"} */ w, /** @type {Num[]} */ all) => {
      const shown = rows.map((k) => all[k]), isLog = view[w].log && shown.every((v) => v !== null && v > 0);
      const most = Math.max(...shown.map((v) => v ?? 0)); // a limit far from all trials would leave them no room
      for (const l of study.answer?.limits ?? []) if (l.metric === view[w].name && l.limit > 0 && l.limit < 2 * most) shown.push(l.limit);
      const [lo, hi] = padded(shown, isLog);
      return (/** @type {number} */ from, /** @type {number} */ to) => (isLog ? log : linear)(lo, hi, from, to);
    };
    const sy = side("y", ys)(height - 52, 34), ticks = sy.ticks(6, study.unitOf(view.y.name));
    const box = { left: 0, top: 34, right: width - 24, bottom: height - 52 };
    box.left = Math.min(width * 0.3, widest(ctx, ticks.map((v) => say(view.y.name, v))) + 12);
    const sx = side("x", xs)(box.left, box.right);
    const word = (/** @type {"x" | "y"} */ w) => `${visible(view[w].name)}, ${view[w].up ? "more" : "less"} is better`;
    axes(ctx, box, { scale: sx, ticks: sx.ticks(Math.max(2, Math.floor((box.right - box.left) / 90)), study.unitOf(view.x.name)),
      text: (v) => say(view.x.name, v), title: word("x") }, { scale: sy, ticks, text: (v) => say(view.y.name, v), title: word("y") });
    for (const l of study.answer?.limits ?? []) limit(ctx, box, l, sx, sy);
    spots.clear();
    const many = rows.length > 3000, across = Math.ceil(width / 2), taken = many ? new Uint8Array(across * Math.ceil(height / 2)) : null;
    for (const k of rows) {
      const x = sx(xs[k] ?? 0), y = sy(ys[k] ?? 0);
      const cell = (y >> 1) * across + (x >> 1);
      if (taken?.[cell]) continue; // it would cover one that is drawn
      if (taken) taken[cell] = 1;
      ctx.globalAlpha = mask && !mask[k] ? 0.1 : 0.5;
      mark(ctx, study.trials.state[k], x, y, many ? 2 : 3);
      if (!many) spots.add(x, y, k);
    }
    ctx.globalAlpha = 1;
    ctx.strokeStyle = color("best");
    ctx.lineWidth = 2;
    ctx.beginPath();
    for (const [i, k] of best.entries()) {
      const x = sx(xs[k] ?? 0), y = sy(ys[k] ?? 0);
      if (i > 0) ctx.lineTo(x, sy(ys[best[i - 1]] ?? 0)); // between two of the front there is nothing better than the corner
      if (i > 0) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
    }
    ctx.stroke();
    for (const k of best) {
      const x = sx(xs[k] ?? 0), y = sy(ys[k] ?? 0);
      ctx.beginPath();
      ctx.arc(x, y, 5.5, 0, 2 * Math.PI);
      ctx.stroke();
      if (many) spots.add(x, y, k);
    }
    const listed = best.slice(0, 12).map((k) => `trial ${study.trials.id[k]}, ${say(view.x.name, xs[k])} and ${say(view.y.name, ys[k])}`);
    surface.label(`${visible(view.y.name)} over ${visible(view.x.name)} of ${count(rows.length)} trials. ` +
      `${best.length === 1 ? "One trial is" : `${count(best.length)} trials are`} on the Pareto front: ${listed.join("; ")}` +
      `${best.length > 12 ? "; and others, in the table below" : ""}.`);
  }

  // limit draws the limit of a metric as a line.
  function limit(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Area} */ box, /** @type {{metric: string, limit: number}} */ l,
    /** @type {Scale} */ sx, /** @type {Scale} */ sy) {
    const x = l.metric === view.x.name ? sx(l.limit) : null, y = l.metric === view.y.name ? sy(l.limit) : null;
    if ((x === null || x < box.left || x > box.right) && (y === null || y < box.top || y > box.bottom)) return;
    ctx.strokeStyle = ctx.fillStyle = color("outside");
    ctx.lineWidth = 1.5;
    ctx.setLineDash([6, 4]);
    ctx.beginPath();
    ctx.moveTo(x ?? box.left, y ?? box.top);
    ctx.lineTo(x ?? box.right, y ?? box.bottom);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.textAlign = "right";
    ctx.textBaseline = "top";
    halo(ctx, `limit ${say(l.metric, l.limit)}`, (x ?? box.right) - 5, (y ?? box.top) + 3);
  }

  const changed = () => {
    below.update();
    surface.paint();
  };
  surface.follow(spots, (i) => {
    const k = spots.of[i];
    return [...study.about(k).slice(0, 1), ...[view.x.name, view.y.name].map((n) => `${visible(n)} ${say(n, values(n)[k])}`), ...study.about(k).slice(1)];
  });
  if (selection) selection.listen(() => { below.update(); surface.later(); });
  const below = new Tabled(place, "the Pareto front", () => {
    const { best, xs, ys } = found();
    return grid(["trial", visible(view.x.name), visible(view.y.name), "configuration"], best.map((k) =>
      [String(study.trials.id[k]), say(view.x.name, xs[k]), say(view.y.name, ys[k]), study.config(k)]), "rrr");
  });
  controls();
  return { update: () => {
    const now = metricsOf(study);
    if (!kept.x && view.x.name !== other()) {
      view.x = axis("x", other());
      controls();
    }
    if (now.length !== names.length) {
      names.splice(0, names.length, ...now);
      controls();
    }
    below.update();
    surface.later();
  } };
}

// metricsOf returns the names of the comparable metrics, the objective first.
/** @param {Study} study */
export function metricsOf(study) {
  return [study.metric, ...Object.keys(study.trials.metrics).filter((n) => n !== study.metric && n !== "exit_code" && n !== "signal").sort()];
}
