import { seconds } from "./format.js";
import { ago, follow, get, keyed, link, put, ref, say, visible } from "./rows.js";

// The queue as it goes on. Acts are the form's own; here the reason of a discard is asked for without
// another page, and the commands are those of what is chosen.

const form = document.getElementById("queue");
const body = (id) => document.getElementById(id);
const acts = !form.classList.contains("looking");

function common(row, e) {
  const name = ref(e);
  const a = row.querySelector("a[data-f=ref]");
  if (a.getAttribute("href") !== link(e)) a.href = link(e);
  put(row, { ref: visible(name), config: visible(e.config) });
  for (const b of row.querySelectorAll("button, input")) b.value = name;
  row.querySelector("input").ariaLabel = "choose " + visible(name);
}

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

const attempt = (e) => `${ref(e)}.${e.repeat}.${e.attempt}`;

async function look() {
  const of = form.dataset.study ? "&study=" + encodeURIComponent(form.dataset.study) : "";
  const q = await get("/queue?limit=500" + of);
  const lists = {
    placed: q.entries.filter((e) => e.state === "placed"), open: q.entries.filter((e) => e.state === "open"),
    gone: q.discarded.reverse(),
  };
  for (const [id, list] of Object.entries(lists)) {
    keyed(body(id), list, id === "gone" ? ref : attempt, fill[id]);
    const none = document.querySelector(`[data-none=${id}]`), some = document.querySelector(`[data-some=${id}]`);
    if (none) none.hidden = list.length > 0;
    if (some) some.hidden = list.length === 0;
  }
  say("total", `${lists.placed.length} run, ${lists.open.length} wait`);
  chosen();
}

const checked = () => [...form.querySelectorAll("input[name=trial]:checked")].map((i) => i.value);

function chosen() {
  const n = checked().length;
  say("chosen", n === 0 ? "the chosen trials" : n === 1 ? "the one chosen" : `the ${n} chosen`);
  const all = n ? checked() : [form.querySelector("#open input")?.value ?? "STUDY/TRIAL"];
  const studies = Map.groupBy ? Map.groupBy(all, (r) => r.slice(0, r.lastIndexOf("/"))) : new Map();
  const lines = document.querySelectorAll("#commands code:first-child");
  if (studies.size !== 1) return;
  for (const [i, verb] of ["first", "discard", "restore"].entries()) {
    const [[study, refs]] = studies, ids = refs.map((r) => r.slice(r.lastIndexOf("/") + 1));
    const words = refs.map((r) => (/^[\w./@%+=:,-]+$/.test(r) ? r : `'${r.replaceAll("'", "'\\''")}'`));
    lines[i].textContent = visible(["assay queue", verb, ...words].join(" "));
    lines[i].parentElement.lastElementChild.textContent =
      visible(`PATCH /api/v1/queue/${encodeURIComponent(study)} {"trials":[${ids}],"do":"${verb}"}`);
  }
}

// ask asks why, and sends the form as the page that asks would.
function ask(button) {
  const dialog = document.getElementById("ask"), why = document.getElementById("why");
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
  const b = e.submitter;
  if (!b || !acts) return;
  if (b.value === "*" && checked().length === 0) return;
  if (b.name === "discard") {
    e.preventDefault();
    ask(b);
  }
});
follow(look);
