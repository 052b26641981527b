import { axes, widest } from "./axis.js";
import { choice, color, el, grid, Tabled } from "./dom.js";
import { count, money, number, seconds } from "./format.js";
import { lines } from "./history.js";
import { log, linear, padded } from "./scale.js";
import { font, Spots, Surface } from "./surface.js";

// curve draws how long a workflow takes on how many slots, or its cost, with the interval of
// each estimate, the bound that no schedule is below, and the recommendation. The reader drags a
// deadline, or moves it by the arrow keys up and down: a note has the fewest slots that meet it. by
// has the first deadline, and curve calls its moved with each later one.
/**
 * @param {HTMLElement} place
 * @param {Plan} plan
 * @param {{deadline?: Num, moved?: (d: Num) => void}} [by]
 * @returns {Chart & {plan: (p: Plan) => void, deadline: (d: Num) => void}}
 */
export function curve(place, plan, by = {}) {
  const view = { y: "time", deadline: by.deadline ?? null };
  const spots = new Spots();
  const said = el("p", { class: "note", "aria-live": "polite" });
  place.append(el("div", { class: "bar" }, choice("upwards", [["time", "time"], ["money", "money"]], view.y, (v) => { view.y = v; surface.paint(); }),
    choice("deadline", [[false, "none"], [true, "draw it"]], view.deadline !== null, (on) => {
      view.deadline = on ? plan.recommendation.makespan_s * 1.2 : null;
      moved();
      by.moved?.(view.deadline);
    })), said);
  const surface = new Surface(place, { height: 340, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });
  let sy = linear(0, 1, 0, 1);

  const value = (/** @type {Estimate} */ e) => (view.y === "time" ? e.makespan_s : e.cost);
  const say = (/** @type {number} */ v) => (view.y === "time" ? seconds(v) : money(v));
  const methods = () => [...new Set(plan.estimates.map((e) => e.method))];

  function draw(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ width, /** @type {number} */ height) {
    const all = plan.estimates, bounds = view.y === "time" ? plan.bounds ?? [] : [], slots = [...new Set(all.map((e) => e.slots))].sort((a, b) => a - b);
    const [lo, hi] = padded([...all.flatMap((e) => (view.y === "time" ? [e.low_s, e.makespan_s, e.high_s] : [e.cost])),
      ...bounds.map((b) => Math.max(b.path_s, b.area_s)), view.y === "time" ? view.deadline : null], false);
    sy = linear(Math.min(lo, 0), hi, height - 52, 34);
    const ticks = sy.ticks(6, view.y === "time" ? "s" : ""), box = { left: 0, top: 34, right: width - 20, bottom: height - 52 };
    box.left = Math.min(width * 0.3, widest(ctx, ticks.map(say)) + 12);
    const sx = log(slots[0] / 1.15, slots[slots.length - 1] * 1.15, box.left, box.right);
    axes(ctx, box, { scale: sx, ticks: slots, text: count, title: "slots, logarithmic" },
      { scale: sy, ticks, text: say, title: view.y === "time" ? "makespan" : "money" });
    spots.clear();
    if (bounds.length) path(ctx, "axis", [1, 3], bounds.map((b) => [sx(b.slots), sy(Math.max(b.path_s, b.area_s))]));
    for (const [i, m] of methods().entries()) {
      const of = all.filter((e) => e.method === m).sort((a, b) => a.slots - b.slots), [tone, dash] = lines[i % lines.length];
      if (view.y === "time" && of.some((e) => e.high_s > e.low_s)) band(ctx, tone, of.map((e) => [sx(e.slots), sy(e.low_s), sy(e.high_s)]));
      path(ctx, tone, dash, of.map((e) => [sx(e.slots), sy(value(e))]));
      ctx.fillStyle = color(tone);
      for (const e of of) {
        ctx.fillRect(sx(e.slots) - 3, sy(value(e)) - 3, 6, 6);
        spots.add(sx(e.slots), sy(value(e)), all.indexOf(e));
      }
      ctx.font = font(12, "600");
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      const x = box.left + 12 + (i % 3) * 130, y = 14 + 16 * Math.floor(i / 3);
      path(ctx, tone, dash, [[x + 76, y], [x + 100, y]]);
      ctx.fillText(m, x + 104, y);
    }
    const r = plan.recommendation, px = sx(r.slots), py = sy(view.y === "time" ? r.makespan_s : r.cost);
    ctx.strokeStyle = color("best");
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(px, py, 8, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.fillStyle = color("best");
    ctx.textAlign = px > width / 2 ? "right" : "left";
    ctx.fillText(r.feasible ? "take this" : "nearest", px + (px > width / 2 ? -12 : 12), py - 14);
    if (view.deadline !== null && view.y === "time") {
      path(ctx, "failed", [8, 4], [[box.left, sy(view.deadline)], [box.right, sy(view.deadline)]]);
      ctx.fillStyle = color("failed");
      ctx.textAlign = "right";
      ctx.textBaseline = "bottom";
      ctx.fillText("deadline " + seconds(view.deadline), box.right, sy(view.deadline) - 3);
    }
    const listed = all.map((e) => `${e.method}, ${e.slots} slots: ${seconds(e.makespan_s)}, ${money(e.cost)} of money`);
    surface.label(`Makespan of ${plan.workflow} by number of slots: ${listed.join("; ")}. ${r.why}`);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} tone @param {number[]} dash @param {number[][]} points */
  function path(ctx, tone, dash, points) {
    ctx.strokeStyle = color(tone);
    ctx.lineWidth = 2;
    ctx.setLineDash(dash);
    ctx.beginPath();
    for (const [x, y] of points) ctx.lineTo(x, y);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} tone @param {number[][]} points x, and y from and to */
  function band(ctx, tone, points) {
    ctx.globalAlpha = 0.15;
    ctx.fillStyle = color(tone);
    ctx.beginPath();
    for (const [x, low] of points) ctx.lineTo(x, low);
    for (const [x, , high] of [...points].reverse()) ctx.lineTo(x, high);
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  const moved = () => {
    const d = view.deadline;
    const e = d === null ? null : within(plan, d);
    said.textContent = d === null ? "" : e
      ? `Within ${seconds(d)}: ${e.slots} slots at least (${e.method}: ${seconds(e.makespan_s)}), so that the end of the band, ` +
        `${seconds(e.high_s)}, is within it too; ${money(e.cost)} of money.`
      : `No number of slots in this plan meets ${seconds(d)}.`;
    surface.later();
  };
  let dragged = false;
  surface.canvas.addEventListener("pointerdown", (e) => {
    const y = surface.at(e)[1];
    if (view.deadline === null || view.y !== "time" || Math.abs(sy(view.deadline) - y) > 12) return;
    dragged = true;
    e.preventDefault();
    surface.canvas.setPointerCapture(e.pointerId);
  });
  surface.canvas.addEventListener("pointermove", (e) => {
    const y = surface.at(e)[1];
    surface.canvas.style.cursor = view.deadline !== null && Math.abs(sy(view.deadline) - y) < 12 ? "ns-resize" : "default";
    if (!dragged) return;
    view.deadline = Math.max(0, sy.invert(y));
    moved();
    by.moved?.(view.deadline);
  });
  for (const kind of ["pointerup", "pointercancel"]) surface.canvas.addEventListener(kind, () => { dragged = false; });
  surface.canvas.addEventListener("keydown", (e) => {
    if (view.deadline === null || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
    e.preventDefault();
    view.deadline *= e.key === "ArrowUp" ? 1.02 : 1 / 1.02;
    moved();
    by.moved?.(view.deadline);
  });
  surface.follow(spots, (i) => about(plan.estimates[spots.of[i]]));
  const about = (/** @type {Estimate} */ e) => [`${count(e.slots)} slots, ${e.method}`, seconds(e.makespan_s) +
    (e.high_s > e.low_s ? `, ${seconds(e.low_s)} to ${seconds(e.high_s)}` : ""), `${money(e.cost)} of money`, `efficiency ${number(100 * e.efficiency, 3)} %`];
  const below = new Tabled(place, "slots, time and money", () => grid(["slots", "method", "makespan", "from", "to", "money", "efficiency", "bound", ""],
    plan.estimates.map((e) => {
      const b = (plan.bounds ?? []).find((x) => x.slots === e.slots), r = plan.recommendation;
      const best = (plan.pareto ?? []).some((p) => p.slots === e.slots && p.method === e.method);
      return [count(e.slots), e.method, seconds(e.makespan_s), seconds(e.low_s), seconds(e.high_s), money(e.cost), number(100 * e.efficiency, 3) + " %",
        b ? seconds(Math.max(b.path_s, b.area_s)) : "–", (best ? "Pareto " : "") + (r.slots === e.slots && r.method === e.method ? "recommended" : "")];
    }), "rlrrrrrr"));
  moved();
  return { update: () => surface.later(), deadline: (d) => {
    view.deadline = d;
    moved();
  }, plan: (p) => {
    plan = p;
    below.update();
    moved();
  } };
}

// within returns the estimate of the fewest slots whose interval ends by a deadline, of these the
// cheapest, or null.
/** @param {Plan} plan @param {number} deadline @returns {Estimate | null} */
export function within(plan, deadline) {
  const good = plan.estimates.filter((e) => Math.max(e.makespan_s, e.high_s) <= deadline);
  return good.sort((a, b) => a.slots - b.slots || a.cost - b.cost)[0] ?? null;
}
