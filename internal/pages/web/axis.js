import { color } from "./dom.js";
import { font } from "./surface.js";

// axes draws a grid with texts at its ticks, and returns nothing. box is {left, top, right,
// bottom}; x and y are {scale, ticks, text, title}.
/** @param {CanvasRenderingContext2D} ctx @param {Area} box @param {Side} x @param {Side} y */
export function axes(ctx, box, x, y) {
  const grey = color("muted"), line = color("grid");
  ctx.font = font();
  ctx.lineWidth = 1;
  ctx.strokeStyle = line;
  ctx.fillStyle = grey;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const t of y.ticks) {
    const p = Math.round(y.scale(t)) + 0.5;
    if (p < box.top - 1 || p > box.bottom + 1) continue;
    ctx.beginPath();
    ctx.moveTo(box.left, p);
    ctx.lineTo(box.right, p);
    ctx.stroke();
    ctx.fillText(y.text(t), box.left - 8, p);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  let free = -Infinity; // where the next text may begin
  for (const t of x.ticks) {
    const p = Math.round(x.scale(t)) + 0.5;
    if (p < box.left - 1 || p > box.right + 1) continue;
    ctx.beginPath();
    ctx.moveTo(p, box.bottom);
    ctx.lineTo(p, box.bottom + 4);
    ctx.stroke();
    const text = x.text(t), half = ctx.measureText(text).width / 2;
    const at = Math.min(Math.max(p, half), box.right + 16 - half);
    if (at - half < free) continue;
    ctx.fillText(text, at, box.bottom + 8);
    free = at + half + 8;
  }
  ctx.strokeStyle = color("axis");
  ctx.beginPath();
  ctx.moveTo(box.left, box.bottom + 0.5);
  ctx.lineTo(box.right, box.bottom + 0.5);
  ctx.stroke();
  ctx.fillStyle = color("fg");
  ctx.textAlign = "right";
  ctx.fillText(x.title, box.right, box.bottom + 26);
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  ctx.fillText(y.title, 0, box.top - 8);
}

// widest returns the width of the widest of the texts, for a margin.
/** @param {CanvasRenderingContext2D} ctx @param {string[]} texts */
export function widest(ctx, texts) {
  ctx.font = font();
  return Math.max(0, ...texts.map((t) => ctx.measureText(t).width));
}
