// What the labels say: sentences, agreement with its interval drawn, what to do next.
import { line, make } from "./text.js";

const percent = (share) => `${Math.round(100 * share)}%`;

function estimateOf(estimate) {
  if (estimate.value === null) return "n/a";
  const ends = estimate.low === null ? "" : ` [${Math.round(100 * estimate.low)}, ${Math.round(100 * estimate.high)}]`;
  return percent(estimate.value) + ends;
}

function numberOf(estimate) {
  if (estimate.value === null) return "n/a";
  const ends = estimate.low === null ? "" : ` [${twoPlaces(estimate.low)}, ${twoPlaces(estimate.high)}]`;
  return twoPlaces(estimate.value) + ends;
}

// Nothing is no negative number.
function twoPlaces(value) {
  return value.toFixed(2).replace("-0.00", "0.00");
}

// A share and its interval on a line from 0 to 100; the figures beside it say the same.
function drawn(estimate) {
  const track = make("span", { class: "track", "aria-hidden": "true" });
  if (estimate.value === null || estimate.low === null) return track;
  const range = make("span", { class: "range-bar" });
  range.style.left = percent(estimate.low);
  range.style.width = `${100 * (estimate.high - estimate.low)}%`;
  const dot = make("span", { class: "dot" });
  dot.style.left = `${100 * estimate.value}%`;
  track.append(range, dot);
  return track;
}

function tableOf(caption, rows, measure, first) {
  const share = measure !== "alpha";
  const head = make("tr", {}, make("th", { scope: "col" }, first), share ? make("th", { scope: "col" }, "agreement") : null,
    share ? make("th", { scope: "col", class: "wide" }, make("span", { class: "unseen" }, "drawn")) : null,
    make("th", { scope: "col" }, measure), make("th", { scope: "col", class: "figure" }, "items"));
  const body = rows.map((row) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, line(row.name))),
    share ? make("td", {}, estimateOf(row.agreement)) : null, share ? make("td", { class: "wide" }, drawn(row.agreement)) : null,
    make("td", {}, numberOf(row.beyond)), make("td", { class: "figure" }, String(row.agreement.n))));
  const made = make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, made);
}

// What the figures are: not everybody who labels knows them.
function legendOf(measure) {
  return make("p", { class: "legend" }, `In brackets: the 95% interval. ${measure[0].toUpperCase()}${measure.slice(1)}: agreement beyond chance, 1 is perfect, 0 is chance.`);
}

function criteriaOf(criteria) {
  const keys = Object.keys(criteria);
  if (!keys.length) return null;
  const names = [...new Set(keys.flatMap((key) => criteria[key].map((row) => row.name)))];
  const head = make("tr", {}, make("th", { scope: "col" }, "criterion"), ...names.map((name) => make("th", { scope: "col" }, make("bdi", {}, line(name)))));
  const rows = keys.map((key) => make("tr", {}, make("th", { scope: "row" }, line(key).replaceAll("_", " ")), ...names.map((name) => {
    const found = criteria[key].find((row) => row.name === name);
    return make("td", {}, found ? estimateOf(found.agreement) : "n/a");
  })));
  const caption = "Agreement by criterion (the same score)";
  const made = make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, made);
}

function peopleOf(found) {
  if (!found.people.length) return null;
  const made = [tableOf("Other people on the same items", found.people, found.measure, "labeller")];
  if (found.everyone.value !== null) made.push(make("p", {}, `All labellers: Krippendorff’s alpha ${numberOf(found.everyone)} on ${found.everyone.n} items.`));
  return make("div", {}, ...made);
}

function differencesOf(found) {
  if (!found.differing) return null;
  const rows = found.differences.map((one) => make("li", {},
    make("p", {}, make("bdi", { class: "id" }, line(one.item)), " you: ", make("b", {}, line(one.label)), ", the panel: ", make("b", {}, line(one.panel))),
    one.note ? make("p", { dir: "auto" }, `You: ${line(one.note)}`) : null,
    one.why ? make("p", { class: "quiet", dir: "auto" }, `Panel: ${line(one.why)}`) : null));
  const told = found.differing > rows.length ? ` (the first ${rows.length})` : "";
  return make("details", {}, make("summary", {}, `Where you and the panel differ, in the half for development: ${found.differing}${told}`),
    make("p", { class: "quiet" }, "The other half of all items is set aside as a test and not listed, so that no prompt is tuned on it."),
    make("ol", { class: "differences" }, ...rows));
}

// Breaks between its words alone: half an option on each line is hard to read.
function commandOf(command) {
  const words = line(command).split(" ").flatMap((word) => [make("span", {}, word), " "]);
  return make("code", {}, ...words.slice(0, -1));
}

function commandsOf(commands) {
  if (!commands.length) return null;
  const rows = commands.map(([command, why]) => make("li", {}, commandOf(command), make("span", { class: "quiet" }, ` ${line(why)}`)));
  return make("div", {}, make("h3", {}, "What to run next"), make("ul", { class: "commands" }, ...rows));
}

export function results(found, view, { more, on, close }) {
  const [headline, ...rest] = found.sayings;
  const left = view.items - view.target;
  const wanted = found.needed ? Math.min(left, found.needed.more) : Math.min(left, 20);
  const buttons = make("div", { class: "ends" },
    view.item ? make("button", { type: "button", class: "ready", onclick: on }, "Go on labelling") : null,
    wanted > 0 && !view.item ? make("button", { type: "button", class: "ready", onclick: () => more(wanted) }, `Label ${wanted} more`) : null,
    make("button", { type: "button", onclick: close }, "Finish and close"));
  return [
    make("h2", {}, view.item ? "So far" : "All labelled"),
    make("p", { class: "headline" }, line(headline)),
    ...rest.map((text) => make("p", {}, line(text))),
    buttons,
    found.labels ? tableOf("Your labels beside the panel and each judge", found.rows, found.measure, "judge") : null,
    found.labels ? legendOf(found.measure) : null,
    criteriaOf(found.criteria),
    peopleOf(found),
    differencesOf(found),
    commandsOf(found.commands),
  ].filter(Boolean);
}
