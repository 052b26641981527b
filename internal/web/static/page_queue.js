import { seconds } from "./format.js";
import { ago, follow, get, keyed, link, put, ref, say, visible } from "./rows.js";

// The queue as it goes on. Acts are the form's own; here the reason of a discard is asked for without
// another page, and the commands are for the chosen trials.

/** @typedef {any} Entry a trial of the queue, as the API has it */

const form = /** @type {HTMLFormElement} */ (document.getElementById("queue"));
/** @param {string} id */
const body = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const acts = !form.classList.contains("looking");

/** @param {any} row @param {Entry} e */
function common(row, e) {
  const name = ref(e);
  const a = row.querySelector("a[data-f=ref]");
  if (a.getAttribute("href") !== link(e)) a.href = link(e);
  put(row, { ref: visible(name), config: visible(e.config) });
  for (const b of row.querySelectorAll("button, input")) b.value = name;
  row.querySelector("input").ariaLabel = "choose " + visible(name);
}

/** @type {Record<string, (row: any, e: Entry) => void>} */
const fill = {
  placed(row, e) {
    common(row, e);
    put(row, { worker: visible(e.worker ?? ""), elapsed: seconds(e.elapsed_s + e.silent_s), silent: seconds(e.silent_s) });
  },
  open(row, e) {
    common(row, e);
    put(row, { app: visible(e.app), since: ago(e.since) });
    row.querySelector("[data-f=first]").hidden = row.querySelector("[name=restore]").hidden = e.priority <= 0;
  },
  gone(row, e) {
    common(row, e);
    put(row, { by: visible(e.by), reason: visible(e.reason), at: ago(e.at) });
  },
};

/** @param {Entry} e */
const attempt = (e) => `${ref(e)}.${e.repeat}.${e.attempt}`;

async function look() {
  const of = form.dataset.study ? "&study=" + encodeURIComponent(form.dataset.study) : "";
  const q = await get("/queue?limit=500" + of);
  const lists = {
    placed: q.entries.filter((/** @type {Entry} */ e) => e.state === "placed"), open: q.entries.filter((/** @type {Entry} */ e) => e.state === "open"),
    gone: q.discarded.reverse(),
  };
  for (const [id, list] of Object.entries(lists)) {
    keyed(body(id), list, id === "gone" ? ref : attempt, fill[id]);
    const none = /** @type {HTMLElement | null} */ (document.querySelector(`[data-none=${id}]`));
    const some = /** @type {HTMLElement | null} */ (document.querySelector(`[data-some=${id}]`));
    if (none) none.hidden = list.length > 0;
    if (some) some.hidden = list.length === 0;
  }
  say("total", `${lists.placed.length} run, ${lists.open.length} wait`);
  chosen();
}

const checked = () => /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[name=trial]:checked")]).map((i) => i.value);

function chosen() {
  const n = checked().length;
  say("chosen", n === 0 ? "the chosen trials" : n === 1 ? "the one chosen" : `the ${n} chosen`);
  const sample = /** @type {HTMLInputElement | null} */ (form.querySelector("#open input"));
  const all = n ? checked() : [sample?.value ?? "STUDY/TRIAL"];
  const studies = new Set(all.map((r) => r.slice(0, r.lastIndexOf("/"))));
  const lines = document.querySelectorAll("#commands code:first-child");
  if (studies.size !== 1) return;
  for (const [i, verb] of ["first", "discard", "restore"].entries()) {
    const [study] = studies, ids = all.map((r) => r.slice(r.lastIndexOf("/") + 1));
    const words = all.map((r) => (/^[\w./@%+=:,-]+$/.test(r) ? r : `'${r.replaceAll("'", "'\\''")}'`));
    lines[i].textContent = visible(["assay queue", verb, ...words].join(" "));
    const call = lines[i].parentElement?.lastElementChild;
    if (call) call.textContent = visible(`PATCH /api/v1/queue/${encodeURIComponent(study)} {"trials":[${ids}],"do":"${verb}"}`);
  }
}

// ask asks why, and sends the form as the page that asks would.
/** @param {HTMLButtonElement} button */
function ask(button) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("ask"));
  const why = /** @type {HTMLInputElement} */ (document.getElementById("why"));
  const refs = button.value === "*" ? checked() : [button.value];
  say("asked", refs.length > 5 ? `${refs.length} trials` : visible(refs.join(" ")));
  why.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  dialog.onclose = () => {
    if (dialog.returnValue !== "yes") return;
    for (const [name, value] of [["discard", button.value], ["sure", "yes"], ["reason", why.value]]) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name, value });
      form.append(field);
    }
    form.submit();
  };
}

form.addEventListener("change", chosen);
form.addEventListener("submit", (e) => {
  const b = /** @type {HTMLButtonElement | null} */ (e.submitter);
  if (!b || !acts) return;
  if (b.value === "*" && checked().length === 0) return;
  if (b.name === "discard") {
    e.preventDefault();
    ask(b);
  }
});
follow(look);
