// Which of several are not beaten in everything by another.

// pareto returns the Pareto front: at least as good in both coordinates and better
// in one. up has for each whether more is better. The points are in order of the first, with all
// of several equal ones.
/** @param {{x: number, y: number}[]} points @param {[boolean, boolean]} up @returns {number[]} */
export function pareto(points, [upX, upY]) {
  const x = (/** @type {number} */ i) => (upX ? -points[i].x : points[i].x), y = (/** @type {number} */ i) => (upY ? -points[i].y : points[i].y);
  const order = points.map((_, i) => i).sort((a, b) => x(a) - x(b) || y(a) - y(b) || a - b);
  const front = [];
  let least = Infinity, at = NaN;
  for (const i of order) {
    if (!(y(i) < least || (y(i) === least && x(i) === at))) continue;
    [least, at] = [y(i), x(i)];
    front.push(i);
  }
  return front;
}
