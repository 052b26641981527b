import { el } from "./dom.js";
import { seconds } from "./format.js";
import { occupancy } from "./occupancy.js";
import { visible } from "./study.js";

// The page of cost models: numbers get sliders, and the prediction follows them.

/** @type {HTMLFormElement | null} */
const form = document.querySelector("[data-predict]");
const data = document.getElementById("prediction");

/** @param {string} name @returns {HTMLElement | null} */
const say = (name) => document.querySelector(`[data-say=${name}]`);

// text sets the text of an element that is there.
/** @param {HTMLElement | null} e @param {string} to */
function text(e, to) { if (e) e.textContent = to; }

/** @type {HTMLElement | null} */
const place = document.querySelector("[data-draw=parts]");
/** @type {ReturnType<typeof occupancy> | null} */
let chart = null;
if (place && data) {
  place.replaceChildren();
  chart = occupancy(place, JSON.parse(data.textContent ?? "{}"));
}

// show writes the prediction, at the same places as the server.
/** @param {Predicted & {elasticities?: Record<string, number>}} p */
function show(p) {
  chart?.predict(p);
  text(say("time"), seconds(p.seconds));
  text(say("interval"), `${seconds(p.low_s)} to ${p.high_s === null ? "any time" : seconds(p.high_s)}`);
  const all = Object.entries(p.elasticities ?? {}).map(([name, x]) => el("li", {}, `${visible(name)}: ${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)} % of the time`));
  say("elasticities")?.replaceChildren(...(all.length ? [el("h3", {}, "For 1 % more of each"), el("ul", { class: "inline" }, ...all)] : []));
}

// One request at a time; of those that wait the last one counts.
let busy = false, again = false;

/** @param {HTMLFormElement} form */
async function predict(form) {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  /** @type {Record<string, string>} */
  const at = {};
  /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */
  const fields = form.querySelectorAll("[data-attribute]");
  for (const f of fields) at[f.dataset.attribute ?? ""] = f.value;
  const wrong = say("wrong");
  try {
    const answer = await fetch(`/api/v1/studies/${encodeURIComponent(form.dataset.predict ?? "")}/predict`, {
      method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify({ at: [at], explain: true }),
    });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
    show(body.predictions[0]);
    if (wrong) wrong.hidden = true;
    history.replaceState(null, "", "?" + new URLSearchParams(/** @type {any} */ (new FormData(form))));
  } catch (e) {
    text(wrong, "× " + visible(String(/** @type {Error} */ (e).message)));
    if (wrong) wrong.hidden = false;
  }
  busy = false;
  if (again) {
    again = false;
    await predict(form);
  }
}

if (form && data) {
  /** @type {NodeListOf<HTMLInputElement>} */
  const numbers = form.querySelectorAll("input[data-min]");
  for (const field of numbers) {
    const min = Number(field.dataset.min), max = Number(field.dataset.max);
    if (!(max > min)) continue;
    // A wide range of positive numbers is a slider of their logarithms.
    const log = min > 0 && max / min > 50, to = (/** @type {number} */ x) => (log ? Math.log(x) : x), from = (/** @type {number} */ x) => (log ? Math.exp(x) : x);
    const whole = Number.isInteger(min) && Number.isInteger(max) && Number.isInteger(Number(field.value));
    const range = el("input", { type: "range", min: String(to(min)), max: String(to(max)), step: whole && !log ? "1" : "any",
      "aria-label": `${field.dataset.attribute}, slider`, oninput: () => {
        const x = from(Number(range.value));
        field.value = String(whole ? Math.round(x) : Number(x.toPrecision(4)));
        void predict(form);
      } });
    range.value = String(to(Number(field.value)));
    field.addEventListener("input", () => {
      range.value = String(to(Number(field.value)));
      void predict(form);
    });
    field.after(range);
  }
  for (const f of form.querySelectorAll("select")) f.addEventListener("change", () => void predict(form));
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    void predict(form);
  });
}
document.documentElement.dataset.drawn = "true";
