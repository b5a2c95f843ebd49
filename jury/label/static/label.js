// The page: one item at a time, keys for every answer, the next item only after the label is on the disk.
import { fill, line, make } from "./text.js";
import { results } from "./results.js";

const $ = (id) => document.getElementById(id);
const state = { about: null, view: null, answers: {}, active: 0, busy: false, closed: false, results: false };
const drafts = new Map(); // by place: what was typed and is not stored yet

const GONE = "The server does not answer: `jury label` was stopped, or this computer slept. Every label before this item is "
  + "stored. Nothing was stored of this one; what you typed still stands here. Try again; if that does not help, start "
  + "`jury label` again, which opens a new tab at this item, and copy your note into it.";

// --- the server ---------------------------------------------------------------------------------------------------
async function ask(path, body) {
  const options = body === undefined
    ? {}
    : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, { ...options, credentials: "same-origin" });
  } catch {
    throw { status: 0, told: GONE };
  }
  if (answer.ok) return answer.json();
  const text = await answer.text();
  let told = text;
  try {
    told = JSON.parse(text).error;
  } catch { /* plain text */ }
  throw { status: answer.status, told };
}

function trouble(told) {
  const place = $("trouble");
  place.hidden = !told;
  place.textContent = told ? line(told) : "";
  if (told) place.scrollIntoView({ block: "nearest" });
}

function announce(text) {
  $("live").textContent = "";
  requestAnimationFrame(() => { $("live").textContent = text; });
}

// One request at a time: a second key press before the answer does nothing.
async function once(work) {
  if (state.busy || state.closed) return;
  state.busy = true;
  document.body.classList.add("busy");
  try {
    await work();
  } catch (error) {
    if (error.told === undefined) throw error;
    trouble(error.told);
  } finally {
    state.busy = false;
    document.body.classList.remove("busy");
  }
}

// --- what stays the same --------------------------------------------------------------------------------------------
function frame(about) {
  document.title = `Label ${line(about.run)}`;
  $("run").textContent = line(about.run);
  $("who").replaceChildren("by ", make("bdi", {}, line(about.labeller)),
    about.blind ? ", blind to the panel" : ", the panel’s verdict in view");
  if (about.sampling !== "random") {
    $("sampling").hidden = false;
    $("sampling").textContent = about.sampling === "people"
      ? "These are the items that the judges leave to people. No rate follows from these labels."
      : "The items on which the judges disagree come first. Good for finding what is wrong; no rate follows from these labels.";
  }
  const parts = [];
  if (about.task) parts.push(make("p", {}, make("b", {}, "Task: "), line(about.task)));
  if (about.criteria) {
    const long = about.criteria.length > 600 ? { tabindex: "0", role: "region", "aria-label": "Criteria" } : {};
    parts.push(fill(make("div", { class: "text", dir: "auto", ...long }), about.criteria));
  }
  for (const one of about.materials) {
    const inner = fill(make("div", { class: "text prompt material", dir: "auto", tabindex: "0", role: "region", "aria-label": line(one.name) }), one.text);
    parts.push(make("details", { open: one.text.length < 1500 }, make("summary", {}, line(one.name)), inner));
  }
  for (const told of about.instructions) {
    const inner = fill(make("pre", { class: "text prompt", dir: "auto", tabindex: "0", role: "region", "aria-label": "What the judges were told" }), told.text);
    parts.push(make("details", {}, make("summary", {}, `What the judges were told (${line(told.name)})`), inner));
  }
  $("criteria").replaceChildren(...parts);
  $("task").hidden = parts.length === 0;
  $("desk").classList.toggle("several", several());
  $("desk").classList.toggle("pair", about.kind === "pairwise");
  $("desk").classList.toggle("numeric", !several() && !instant());
  $("desk").classList.toggle("many", instant() && about.questions[0].choices.length > 6);
}

const several = () => state.about.questions.length > 1;
const instant = () => !several() && state.about.questions[0].low === undefined;

// --- the item -------------------------------------------------------------------------------------------------------
async function show(view) {
  keep();
  state.view = view;
  state.answers = {};
  state.active = 0;
  trouble("");
  progress(view);
  if (!view.item) {
    $("desk").hidden = true;
    return finish();
  }
  state.results = false;
  $("results").hidden = true;
  $("desk").hidden = false;
  $("title").replaceChildren(`Item ${view.item.place + 1} `, make("bdi", { class: "id" }, line(view.item.id)));
  $("blocks").replaceChildren(...view.item.blocks.map((block, at) => blockOf(block, at, view.item.place)));
  verdictOf(view.item.verdict);
  const filled = drafts.get(view.item.place) ?? view.before;
  $("note").value = filled?.note ?? "";
  questions(filled?.answers ?? {});
  $("finish").textContent = "Results";
  window.scrollTo(0, 0);
  $("item").focus({ preventScroll: true });
}

// What stands there is kept where another item, or the results, take its place.
function keep() {
  if (unstored()) drafts.set(state.view.item.place, { answers: state.answers, note: $("note").value });
}

function blank() {
  state.answers = {};
  $("note").value = "";
}

function unstored() {
  return Boolean(state.view?.item) && (Boolean($("note").value.trim()) || Object.keys(state.answers).length > 0);
}

function progress(view) {
  $("bar").max = view.target;
  $("bar").value = view.done;
  $("count").textContent = `${view.done} of ${view.target}`;
  $("undo").disabled = !view.undo;
}

function blockOf(block, at, place) {
  const body = fill(make("div", { class: "text", dir: "auto" }), block.text || "(empty)");
  if (!block.text) body.classList.add("empty");
  const box = make("section", { class: `block ${block.role}` }, make("h3", {}, line(block.title)), body);
  if (block.length === undefined) return box;
  body.classList.add("cut");
  const button = make("button", { type: "button", class: "all" }, `Show all ${block.length.toLocaleString("en")} characters`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      fill(body, (await ask(`/api/text?place=${place}&block=${at}`)).text);
      body.classList.remove("cut");
      body.tabIndex = -1;
      body.focus({ preventScroll: true });
      button.remove();
      announce("The whole text is shown.");
    } catch (error) {
      button.disabled = false;
      trouble(error.told ?? String(error));
    }
  });
  box.append(button);
  return box;
}

function verdictOf(verdict) {
  const place = $("said");
  place.hidden = !verdict;
  if (!verdict) return place.replaceChildren();
  const votes = verdict.votes.map((vote) =>
    make("li", {}, make("b", {}, make("bdi", {}, line(vote.judge)), `: ${line(vote.said)} `), fill(make("span", { dir: "auto" }), vote.why)));
  place.replaceChildren(make("h3", {}, `The panel said: ${line(verdict.said)}`), make("ul", {}, ...votes));
}

// --- the answers ----------------------------------------------------------------------------------------------------
function questions(before) {
  const made = state.about.questions.map((question, at) => (several() ? rowOf(question, at) : singleOf(question)));
  $("questions").replaceChildren(...made);
  $("save").hidden = instant();
  for (const question of state.about.questions) {
    const answer = before?.[question.key];
    if (answer) mark(question, answer);
  }
  if (several()) activate(firstOpen());
  $("hint").hidden = !several();
  ready();
}

function faceOf(choice) {
  const hint = choice.hint && !several() ? make("small", { dir: "auto" }, line(choice.hint)) : null;
  return [choice.key && choice.key !== choice.text ? make("kbd", {}, choice.key) : null, make("span", { class: "word", dir: "auto" }, line(choice.text)), hint];
}

function answersOf(question) {
  return [...question.choices.map((choice, at) => [{ choice: at }, choice]), [{ na: true }, question.na]];
}

function singleOf(question) {
  const buttons = answersOf(question).map(([answer, choice]) =>
    make("button", { type: "button", class: "choice", "aria-pressed": "false", "data-answer": JSON.stringify(answer),
      "aria-keyshortcuts": choice.key || null, onclick: () => pick(question, answer) }, ...faceOf(choice)));
  const legend = make("legend", { class: state.about.kind === "pairwise" ? "" : "unseen" }, line(question.title));
  const number = question.low === undefined ? null : numberOf(question);
  return make("fieldset", { class: "single" }, legend, number, make("div", { class: "choices" }, ...buttons));
}

function numberOf(question, at = 0) {
  const id = `number-${at}`;
  const input = make("input", { id, type: "text", inputmode: "decimal", "aria-describedby": `${id}-range`, size: "6", autocomplete: "off" });
  input.addEventListener("input", () => {
    unmark(question);
    if (input.value.trim()) state.answers[question.key] = { number: input.value.trim().replace(",", ".") };
    else delete state.answers[question.key];
    ready();
  });
  const range = make("span", { id: `${id}-range`, class: "range" }, `${question.low} to ${question.high}`);
  return make("div", { class: "number" }, make("label", { for: id }, several() ? "Number" : "Your number"), input, range);
}

function rowOf(question, at) {
  const options = answersOf(question).map(([answer, choice], n) => {
    const radio = make("input", { type: "radio", name: `q${at}`, id: `q${at}-${n}`, "data-answer": JSON.stringify(answer),
      onchange: () => choose(question, answer) });
    return make("span", { class: "option" }, radio, make("label", { for: `q${at}-${n}` }, ...faceOf(choice)));
  });
  const told = question.text ? make("p", { dir: "auto" }, line(question.text)) : null;
  const number = question.low === undefined ? null : numberOf(question, at);
  const anchors = question.choices.filter((choice) => choice.hint).map((choice) => `${line(choice.text)}: ${line(choice.hint)}`);
  const meaning = anchors.length ? make("p", { class: "anchors", dir: "auto" }, anchors.join("\n")) : null;
  const row = make("fieldset", { class: "criterion" }, make("legend", {}, line(question.title)), told, number,
    make("div", { class: "options" }, ...options), meaning);
  row.addEventListener("focusin", () => activate(at));
  return row;
}

const boxOf = (question) => $("questions").children[state.about.questions.indexOf(question)];
const facesOf = (question) => [...boxOf(question).querySelectorAll("[data-answer]")];

function unmark(question) {
  for (const face of facesOf(question)) {
    if (face.type === "radio") face.checked = false;
    else face.setAttribute("aria-pressed", "false");
  }
}

function mark(question, answer) {
  state.answers[question.key] = answer;
  unmark(question);
  const input = boxOf(question).querySelector(".number input");
  if (input) input.value = answer.number ?? "";
  for (const face of facesOf(question)) {
    if (face.dataset.answer !== JSON.stringify(answer)) continue;
    if (face.type === "radio") face.checked = true;
    else face.setAttribute("aria-pressed", "true");
  }
  ready();
}

// Of a single question with buttons an answer is the label: it is saved at once.
function pick(question, answer) {
  if (state.busy) return;
  mark(question, answer);
  save();
}

function choose(question, answer) {
  mark(question, answer);
  const next = firstOpen();
  activate(next);
  const open = state.about.questions[next];
  const place = open && !state.answers[open.key] ? boxOf(open) : $("save");
  place.scrollIntoView({ block: "nearest" });
}

const firstOpen = () => {
  const at = state.about.questions.findIndex((question) => !state.answers[question.key]);
  return at < 0 ? state.active : at;
};

// The row before, to answer it again.
function back() {
  activate(Math.max(0, state.active - 1));
  announce(`${line(state.about.questions[state.active].title)} again.`);
}

function activate(at) {
  state.active = at;
  [...$("questions").children].forEach((row, n) => row.classList.toggle("active", n === at));
}

function ready() {
  const open = state.about.questions.filter((question) => !state.answers[question.key]).length;
  $("save").classList.toggle("ready", open === 0);
  $("save").setAttribute("aria-disabled", open === 0 ? "false" : "true");
}

function save() {
  const open = state.about.questions.find((question) => !state.answers[question.key]);
  if (open) {
    const told = `No answer yet: ${line(open.title)}`;
    trouble(told);
    (boxOf(open).querySelector("input") ?? boxOf(open).querySelector("button"))?.focus();
    return;
  }
  once(async () => {
    const body = { place: state.view.item.place, answers: state.answers, note: $("note").value };
    try {
      await saved(await ask("/api/label", body));
    } catch (error) {
      if (error.status !== 409) throw error;
      const next = await ask("/api/next");
      blank();
      await show(next);
      trouble(`That item had a label already, from another window; it was left as it is.`);
    }
  });
}

async function saved(view) {
  drafts.delete(state.view.item.place);
  blank();
  $("saved").textContent = "saved";
  await show(view);
  announce(view.item ? `Saved. Item ${view.item.place + 1}, ${view.done} of ${view.target} done.` : "Saved. All items are labelled.");
}

function undo() {
  once(async () => {
    const view = await ask("/api/undo", {});
    await show(view);
    $("saved").textContent = "";
    announce(view.before ? `Taken back. Item ${view.item.place + 1} again.` : "Nothing to take back.");
  });
}

// --- the end --------------------------------------------------------------------------------------------------------
async function finish() {
  const found = await ask("/api/findings"); // first: where nobody answers, the item stays
  state.results = true;
  $("desk").hidden = true;
  const place = $("results");
  place.hidden = false;
  $("finish").textContent = "Go on";
  place.replaceChildren(...results(found, state.view, { more, on: toggle, close }));
  window.scrollTo(0, 0);
  place.focus({ preventScroll: true });
}

function toggle() {
  once(async () => {
    if (!state.results) await finish();
    else if (state.view.item) await show(await ask("/api/next"));
    else await further(20);
  });
}

const more = (count) => once(() => further(count));

async function further(count) {
  const view = await ask("/api/more", { count });
  if (view.item) await show(view);
  else trouble("There is no further item in this run.");
}

function close() {
  once(async () => {
    const told = await ask("/api/close", {});
    state.closed = true;
    $("results").replaceChildren(make("p", { class: "headline" }, "Closed. You can leave this tab."), make("p", {}, `Your labels: ${line(told.labels)}`));
    for (const button of document.querySelectorAll("button")) button.disabled = true;
  });
}

// --- keys -----------------------------------------------------------------------------------------------------------
function typed(event) {
  if (event.ctrlKey && event.key === "Enter" && event.target === $("note")) return save();
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  const typing = event.target.matches("textarea, input[type=text]");
  if (event.key === "Escape" && typing) return $("item").focus({ preventScroll: true });
  if (!$("keys").checked || state.closed) return undefined;
  if (typing) return undefined;
  if (event.key === "u" && !$("undo").disabled) return held(event, undo);
  if (state.results || !state.view?.item) return undefined;
  if (event.key === "w") return held(event, () => $("note").focus());
  if (event.key === "Backspace" && several()) return held(event, back);
  if (event.key === "Enter" && !instant() && !event.target.matches("button, summary, a")) return held(event, save);
  const question = state.about.questions[several() ? state.active : 0];
  const found = answersOf(question).find(([, choice]) => choice.key && choice.key === event.key);
  if (found) return held(event, () => (several() ? choose(question, found[0]) : pick(question, found[0])));
  const input = boxOf(question).querySelector(".number input");
  if (input && /^[0-9.,-]$/.test(event.key)) input.focus(); // the digit goes on into the field
  return undefined;
}

function held(event, work) {
  event.preventDefault();
  if (!event.repeat) work();
}

function wire() {
  addEventListener("beforeunload", (event) => { if (unstored() && !state.closed) event.preventDefault(); });
  document.addEventListener("keydown", typed);
  $("verdict").addEventListener("submit", (event) => { event.preventDefault(); save(); });
  $("undo").addEventListener("click", undo);
  $("finish").addEventListener("click", toggle);
  $("note").addEventListener("input", () => { $("note").rows = Math.min(6, $("note").value.split("\n").length); });
  $("keys").checked = localStorage.getItem("jury-keys") !== "off";
  const shown = () => document.body.classList.toggle("keyless", !$("keys").checked);
  $("keys").addEventListener("change", () => { localStorage.setItem("jury-keys", $("keys").checked ? "on" : "off"); shown(); });
  shown();
}

async function start() {
  if (location.search) history.replaceState(null, "", location.pathname); // the token is a cookie now
  wire();
  state.about = await ask("/api/about");
  frame(state.about);
  await show(await ask("/api/next"));
}

start().catch((error) => trouble(error.told ?? String(error)));
