import { el, grid } from "./dom.js";
import { count, money, number, seconds } from "./format.js";
import { states } from "./states.js";

// spent shows the time of the runs by its parts, and the savings by stopping.
/** @param {HTMLElement} place @param {import("./study.js").Study} study @returns {Chart} */
export function spent(place, study) {
  const box = el("div", {});
  place.append(box);
  const update = () => box.replaceChildren(...drawn(study));
  update();
  return { update };
}

/** @param {import("./study.js").Study} study */
function drawn(study) {
  const parts = parted(study);
  const total = parts.reduce((a, p) => a + p.seconds, 0);
  const bar = el("div", { class: "stack", role: "img", "aria-label": parts.map((p) => `${p.text} ${seconds(p.seconds)}`).join(", ") });
  for (const p of parts) {
    if (p.seconds <= 0) continue;
    const piece = el("span", { class: "piece " + p.tone, title: `${p.text}: ${seconds(p.seconds)}` });
    piece.style.flexGrow = String((100 * p.seconds) / total);
    if (p.seconds / total > 0.1) piece.append(p.text);
    bar.append(piece);
  }
  const priced = study.price > 0;
  const rows = parts.filter((p) => p.runs > 0 || p.seconds > 0).map((p) => [p.text, p.runs ? count(p.runs) : "", seconds(p.seconds),
    total > 0 ? number((100 * p.seconds) / total, 3) + " %" : "–", ...(priced ? [money(p.seconds * study.price)] : [])]);
  rows.push(["all runs", count(parts.reduce((a, p) => a + p.runs, 0)), seconds(total), "100 %", ...(priced ? [money(total * study.price)] : [])]);
  return [bar, el("div", { class: "scroll" }, grid(["state", "runs", "time", "share", ...(priced ? ["money"] : [])], rows, "lrrrr"))];
}

// parted returns the time of the runs by their states, and the time of the runs at the end.
/** @param {import("./study.js").Study} study */
export function parted(study) {
  const parts = states.filter((s) => s.name !== "running").map((s) => {
    let runs = 0, sum = 0;
    for (let k = 0; k < study.n; k++) {
      if (study.trials.state[k] !== s.name) continue;
      runs++;
      sum += study.trials.elapsed_s[k] ?? 0;
    }
    return { text: s.text, tone: s.color, runs, seconds: sum };
  });
  parts.push({ text: "run again", tone: "best", runs: study.again.length,
    seconds: study.again.reduce((a, r) => a + (r.elapsed ?? 0), 0) });
  return parts;
}
