import { color } from "./dom.js";

// The states of trials in the words that people read, with their colours and marks: colour never
// stands alone.
export const states = [
  { name: "done", text: "done", color: "done", about: "ran to its end within the limits" },
  { name: "censored", text: "stopped", color: "stopped", about: "stopped early: its value is a lower bound" },
  { name: "infeasible", text: "outside limits", color: "outside", about: "ran to its end and broke a limit" },
  { name: "failed", text: "failed", color: "failed", about: "has no value" },
  { name: "withdrawn", text: "withdrawn", color: "muted", about: "withdrawn before it had a result" },
  { name: "running", text: "unfinished", color: "fg", about: "has not ended" },
];

// levelled renames the state outside limits to below full: a study with levels has such runs in that state.
export function levelled() {
  Object.assign(state("infeasible"), { text: "below full", about: "ran to its end below the full level: no answer" });
}

const byName = new Map(states.map((s) => [s.name, s]));

/** @param {string} name */
export function state(name) { return byName.get(name) ?? states[0]; }

// mark draws the mark of a state at a place: a square for done, a roof for stopped (the value is
// at least this), a diamond for outside limits, a cross for failed, a dash for withdrawn, a ring for running.
/** @param {CanvasRenderingContext2D} ctx @param {string} name @param {number} x @param {number} y */
export function mark(ctx, name, x, y, size = 3.5) {
  const c = color(state(name).color);
  ctx.strokeStyle = c;
  ctx.fillStyle = c;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  switch (name) {
    case "censored":
      ctx.moveTo(x - size, y + size * 0.7);
      ctx.lineTo(x, y - size * 0.7);
      ctx.lineTo(x + size, y + size * 0.7);
      ctx.stroke();
      return;
    case "infeasible":
      ctx.moveTo(x, y - size - 0.5);
      ctx.lineTo(x + size + 0.5, y);
      ctx.lineTo(x, y + size + 0.5);
      ctx.lineTo(x - size - 0.5, y);
      ctx.closePath();
      ctx.stroke();
      return;
    case "failed":
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x + size, y - size);
      ctx.lineTo(x - size, y + size);
      ctx.stroke();
      return;
    case "withdrawn":
      ctx.moveTo(x - size, y);
      ctx.lineTo(x + size, y);
      ctx.stroke();
      return;
    case "running":
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.stroke();
      return;
    default:
      ctx.fillRect(x - size + 0.5, y - size + 0.5, 2 * size - 1, 2 * size - 1);
  }
}
