import { number, seconds } from "./format.js";
import { follow, get, put, say } from "./rows.js";

// The machines as they go on. One that is new or gone, and a new reason, are shown by loading the page again, unless
// a button has the focus.
const body = /** @type {HTMLElement} */ (document.querySelector("#workers tbody"));

follow(async () => {
  const { workers } = await get("/workers");
  const rows = new Map(/** @type {HTMLElement[]} */ ([...body.children]).map((r) => [r.dataset.key, r]));
  const same = workers.length === rows.size && workers.every((/** @type {any} */ w) => {
    const row = rows.get(w.id);
    return row && row.querySelector(".dot")?.textContent === w.state && row.dataset.lost === (w.lost_at ?? "");
  });
  if (!same && !body.contains(document.activeElement)) {
    location.reload();
    return false;
  }
  for (const w of workers) {
    const row = rows.get(w.id);
    if (!row) continue;
    put(row, {
      slots: `${w.running} of ${w.slots}`, silent: seconds(w.silent_s) + " ago", done: String(w.done),
      ratio: w.ratio ? number(w.ratio, 4) : "–",
    });
    const meter = /** @type {HTMLMeterElement} */ (row.querySelector("meter")), dot = /** @type {HTMLElement} */ (row.querySelector(".dot"));
    meter.max = w.slots;
    meter.value = w.running;
    if (dot.textContent !== w.state) {
      dot.textContent = w.state;
      dot.className = "dot worker-" + w.state;
    }
  }
  say("workers", String(workers.length));
  return true;
});
