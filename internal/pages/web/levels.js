import { choice, color, el, grid, Tabled } from "./dom.js";
import { count, seconds } from "./format.js";
import { clip, font, Spots, Surface } from "./surface.js";
import { visible } from "./study.js";

// mostDrawn is how many tasks are drawn as themselves; of more, levels are.
const mostDrawn = 400;

// levels draws the levels of a workflow: each as wide as its longest task takes, and as high as it
// has tasks. It draws the tasks and their waits if they are known (plan.graph) and not too many.
/** @param {HTMLElement} place @param {Plan} plan @returns {Chart} */
export function levels(place, plan) {
  const all = plan.levels ?? [], graph = plan.graph, drawn = graph && graph.id.length <= mostDrawn ? graph : null;
  const view = { method: 0, tasks: drawn !== null };
  const spots = new Spots();
  place.append(el("div", { class: "bar" },
    drawn ? choice("draw", [[true, "tasks"], [false, "levels"]], view.tasks, (v) => { view.tasks = v; resize(); }) : null,
    all.length > 1 ? choice("levels by", all.map((l, i) => /** @type {[number, string]} */ ([i, l.method])), 0, (v) => {
      view.method = v;
      view.tasks = false;
      below.update();
      resize();
    }) : null));
  const surface = new Surface(place, { height: 220, label: "", draw, over: (ctx) => spots.ring(ctx, color("fg")) });
  const of = () => all[view.method]?.levels ?? [];
  const deepest = drawn ? Math.max(0, ...drawn.level) : 0;
  const columns = drawn ? Array.from({ length: deepest + 1 }, (_, l) => drawn.id.map((_, i) => i).filter((i) => drawn.level[i] === l)) : [];

  function resize() {
    surface.height = view.tasks ? Math.min(600, 60 + 30 * Math.max(1, ...columns.map((c) => c.length))) : 220;
    surface.minWidth = view.tasks ? 110 * columns.length : 0;
    surface.label(view.tasks && drawn ? `${plan.tasks} tasks in ${columns.length} levels; arrow keys go from task to task.`
      : `${plan.tasks} tasks in ${of().length} levels: ` + of().map((l, i) => `level ${i + 1}, ${l.tasks} tasks, the longest ${seconds(l.max_s)}`).join("; "));
    surface.paint();
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function draw(ctx, width, height) {
    spots.clear();
    ctx.font = font(11);
    ctx.textBaseline = "middle";
    if (view.tasks && drawn) return tasks(ctx, width, height);
    const list = of(), sum = list.reduce((a, l) => a + l.max_s, 0) || 1, most = Math.max(1, ...list.map((l) => l.tasks));
    let x = 8;
    ctx.textAlign = "center";
    for (const [i, l] of list.entries()) {
      const w = ((width - 16) * (l.max_s / sum + 0.2 / list.length)) / 1.2, h = 20 + ((height - 90) * l.tasks) / most, y = height - 46 - h;
      ctx.fillStyle = color("accent");
      ctx.globalAlpha = 0.25;
      ctx.fillRect(x + 1, y, w - 2, h);
      ctx.globalAlpha = 0.85;
      const share = l.tasks > 0 && l.max_s > 0 ? l.sum_s / (l.tasks * l.max_s) : 0; // how even its tasks are
      ctx.fillRect(x + 1, y + h * (1 - share), w - 2, h * share);
      ctx.globalAlpha = 1;
      ctx.fillStyle = color("fg");
      ctx.fillText(clip(ctx, count(l.tasks), w), x + w / 2, y - 9);
      ctx.fillText(clip(ctx, seconds(l.max_s), w), x + w / 2, height - 34);
      ctx.fillStyle = color("muted");
      ctx.fillText(clip(ctx, String(i + 1), w), x + w / 2, height - 16);
      spots.add(x + w / 2, y + h / 2, i);
      x += w;
    }
    return undefined;
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height */
  function tasks(ctx, width, height) {
    if (!drawn) return;
    const w = width / columns.length, at = new Map();
    for (const [l, column] of columns.entries()) {
      for (const [k, i] of column.entries()) at.set(i, [w * l + 8, ((k + 0.5) * height) / column.length]);
    }
    const box = w - 34, kinds = [...new Set(drawn.kind)], tones = ["done", "stopped", "outside", "best", "muted", "failed"];
    ctx.strokeStyle = color("axis");
    ctx.lineWidth = 1;
    ctx.globalAlpha = drawn.id.length > 100 ? 0.4 : 0.8;
    ctx.beginPath();
    for (const [i, from] of drawn.from.entries()) {
      const [px, py] = at.get(from), [x, y] = at.get(drawn.to[i]);
      ctx.moveTo(px + box, py);
      ctx.bezierCurveTo(px + box + 16, py, x - 16, y, x, y);
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.textAlign = "left";
    for (const column of columns) {
      const h = Math.max(3, Math.min(20, height / column.length - 3));
      for (const i of column) {
        const [x, y] = at.get(i);
        ctx.fillStyle = color("soft");
        ctx.fillRect(x, y - h / 2, box, h);
        ctx.fillStyle = color(tones[kinds.indexOf(drawn.kind[i]) % tones.length]);
        ctx.fillRect(x, y - h / 2, 4, h);
        ctx.fillStyle = color("fg");
        if (h > 11) ctx.fillText(clip(ctx, visible(drawn.id[i]), box - 10), x + 8, y);
        spots.add(x + box / 2, y, i);
      }
    }
  }

  surface.follow(spots, (n) => {
    const i = spots.of[n];
    if (view.tasks && drawn) {
      return [visible(drawn.id[i]), visible(drawn.kind[i]), drawn.run_s[i] === null ? "run time unknown" : seconds(drawn.run_s[i]),
        "waits " + waits(drawn, i)];
    }
    const l = of()[i];
    return [`level ${i + 1}`, `${count(l.tasks)} tasks`, `longest ${seconds(l.max_s)}`, `together ${seconds(l.sum_s)}`];
  }, 60);
  const below = new Tabled(place, "levels", () => grid(["level", "tasks", "longest", "together"],
    of().map((l, i) => [String(i + 1), count(l.tasks), seconds(l.max_s), seconds(l.sum_s)]), "rrrr"));
  if (graph) {
    new Tabled(place, "tasks", () => grid(["task", "kind", "run time", "waits"], graph.id.slice(0, 1000).map((id, i) =>
      [visible(id), visible(graph.kind[i]), seconds(graph.run_s[i]), waits(graph, i)]), "llr"));
  }
  resize();
  return { update: () => surface.later() };
}

// waits returns the tasks that a task waits for, as text.
/** @param {Graph} g @param {number} task */
function waits(g, task) {
  const of = g.to.flatMap((to, i) => (to === task ? [visible(g.id[g.from[i]])] : []));
  if (of.length === 0) return "for nothing";
  return "for " + of.slice(0, 6).join(", ") + (of.length > 6 ? ` and ${of.length - 6} more` : "");
}
