// One item, opened: what was judged, who voted what and why, what was asked and answered.

function block(title, ...content) {
  return el("div", { class: "block" }, title ? el("h4", {}, title) : null, ...content);
}

const NAMES = {
  input: "Input", question: "Question", output: "Output", response_a: "Answer A", response_b: "Answer B",
  expected_output: "Expected output", reference: "Reference", context: "Context",
};

function judgedText(item, quotes) {
  const made = [];
  const sides = [];
  for (const [name, text] of Object.entries(item.texts || {})) {
    const one = block(NAMES[name] || tidy(name), prose(text, quotes));
    if (name === "response_a" || name === "response_b") {
      if (item.outcome === name.slice(-1).toUpperCase()) one.classList.add("wins");
      sides.push(one);
    } else if (!(item.messages && item.messages.length && (name === "input" || name === "output"))) made.push(one);
  }
  if (item.messages && item.messages.length) made.unshift(block("Transcript", talk(item, quotes)));
  if (sides.length) made.push(el("div", { class: "sides" }, sides));
  return made;
}

// Judges refer to the events of a session by number.
const told = (one) => (Number.isInteger(one.event) ? el("span", { class: "soft" }, ` event ${one.event}`) : null);
const place = (one) => (Number.isInteger(one.event) ? { "data-event": one.event } : {});

function talk(item, quotes) {
  const turns = item.messages.map((message) => {
    const role = String(message.role || "");
    const known = ["user", "assistant", "tool", "system"].includes(role) ? role : "other";
    const content = message.content === null || message.content === undefined ? "" : message.content;
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
    const calls = (message.tool_calls || []).map((call) => {
      const made = call.function || call;
      const given = typeof made.arguments === "string" ? made.arguments : JSON.stringify(made.arguments, null, 2);
      return el("div", place(call), el("div", { class: "role" }, "calls ", own(made.name || "?", { class: "mono" }), told(call)), prose(given || "", quotes, "code"));
    });
    return el("div", { class: `turn ${known}`, ...place(message) }, el("div", { class: "role" }, own(role), told(message)),
      text ? prose(text, quotes, role === "tool" ? "code" : "") : null, calls);
  });
  const output = item.texts && item.texts.output;
  const last = item.messages[item.messages.length - 1];
  if (output && last && last.content !== output) {
    turns.push(el("div", { class: "turn assistant" }, el("div", { class: "role" }, "output that was judged"), prose(output, quotes)));
  }
  return el("div", { class: "talk" }, turns);
}

// A table that may be wider than its place: the keys can move it too.
function sideways(label, table) {
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, table);
}

function voteKind(vote) {
  const kind = { not_applicable: "na", abstained: "abstained", error: "error", flip: "flip" }[vote.status];
  if (kind) return kind;
  if (["A", "B", "tie"].includes(vote.value)) return vote.value;
  return vote.passed === true ? "pass" : vote.passed === false ? "fail" : "unrated";
}

function quoteLine(quote, show) {
  const text = put(el("span", { dir: "auto", class: "txt" }), quote.text);
  const of = quote.criterion ? el("span", { class: "small soft" }, own(quote.criterion)) : null;
  const event = /^\W*(?:event|step|turn|message)\s*#?\s*(\d+)\W*$/i.exec(quote.text);
  if (event && show.events && quote.found !== false) {
    return el("li", {}, el("button", { type: "button", class: "quote", title: "Show it in the transcript", onclick: () => show("", Number(event[1])) }, text), of);
  }
  if (quote.found === true) {
    return el("li", {}, el("button", { type: "button", class: "quote", title: "Show it in the text", onclick: () => show((quote.words || [quote.text])[0]) }, text),
      el("span", { class: "small soft" }, quote.near ? "nearly found: small edits" : "found in the text"), of);
  }
  if (quote.found === false) return el("li", {}, el("span", { class: "quote" }, text), badge("fail", "not found"), of);
  return el("li", {}, el("span", { class: "quote" }, text), of);
}

// A reason, in which the numbers of events lead to their place in the transcript.
function reason(name, text, show) {
  const made = el(name, { dir: "auto", class: name === "p" ? "why" : "txt" });
  let from = 0;
  for (const hit of show.events ? text.matchAll(/\bevent\s+(\d{1,6})\b/gi) : []) {
    put(made, text.slice(from, hit.index));
    made.append(el("button", { type: "button", class: "link", onclick: () => show("", Number(hit[1])) }, hit[0]));
    from = hit.index + hit[0].length;
  }
  return put(made, text.slice(from));
}

function fieldLines(fields, show) {
  const lines = Object.entries(fields || {}).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  if (!lines.length) return null;
  return el("div", { class: "small" }, lines.map(([name, value]) => {
    const each = Array.isArray(value) ? value : [value];
    const said = each.map((one) => (one && typeof one === "object"
      ? Object.entries(one).map(([k, v]) => (String(v).startsWith(`${k} `) ? v : `${k} ${typeof v === "object" ? JSON.stringify(v) : v}`)).join(", ") : String(one)));
    return el("div", {}, el("span", { class: "soft" }, tidy(name.replace(/_/g, " ")) + ": "), reason("span", said.join("; "), show));
  }));
}

function voteBox(vote, show) {
  const parts = (vote.parts || []).map((part) => el("tr", {}, el("th", { scope: "row" }, own(part.key)),
    el("td", {}, partBadge(part)), el("td", {}, reason("span", part.explanation || "", show), fieldLines(part.fields, show))));
  const quotes = vote.quotes || [];
  return el("div", { class: "vote" },
    el("div", { class: "who" }, badge(voteKind(vote), vote.word), el("strong", {}, own(vote.judge)),
      vote.stand_in ? el("span", { class: "small soft" }, "stand-in") : null,
      vote.weight !== undefined && vote.weight !== 1 ? el("span", { class: "small soft" }, `weight ${vote.weight}`) : null,
      vote.flip_kind ? el("span", { class: "small soft" }, { primacy: "took the first answer both times", recency: "took the second answer both times" }[vote.flip_kind] || "a tie against a side") : null),
    vote.failure ? put(el("p", { class: "why", dir: "auto" }), vote.failure) : null,
    vote.explanation && !parts.length ? reason("p", vote.explanation, show) : null,
    parts.length ? sideways("By criterion", el("table", {}, el("thead", {}, el("tr", {}, ["Criterion", "Verdict", "Why"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, parts))) : fieldLines(vote.fields, show),
    quotes.length ? el("ul", { class: "quotes", "aria-label": "Evidence" }, quotes.map((quote) => quoteLine(quote, show))) : null);
}

function partBadge(part) {
  const kind = part.status === "not_applicable" ? "na" : part.status === "error" ? "error" : part.status === "inconclusive" ? "inconclusive"
    : part.passed === true ? "pass" : part.passed === false ? "fail" : part.value === "PASS" ? "pass" : part.value === "FAIL" ? "fail" : "unrated";
  const value = part.value === true ? "yes" : part.value === false ? "no" : part.value === null || part.value === undefined ? part.status || "n/a" : String(part.value);
  return badge(kind, value);
}

function panelParts(item, show) {
  if (!(item.parts || []).length) return null;
  const heads = ["Criterion", "Panel", "Alike", "Why"];
  const cell = (at, ...inner) => el("td", { class: heads[at] === "Alike" ? "num" : null, "data-head": heads[at] }, ...inner);
  const rows = item.parts.map((part) => el("tr", {}, el("th", { scope: "row" }, own(part.key)), cell(1, partBadge(part)),
    cell(2, part.agreement === null || part.agreement === undefined ? "n/a" : `${Math.round(100 * part.agreement)}%`),
    part.explanation ? cell(3, reason("span", part.explanation, show)) : el("td", {})));
  return block("By criterion", sideways("By criterion", el("table", { class: "stack" },
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: head === "Alike" ? "num" : null }, head)))),
    el("tbody", {}, rows))));
}

// Prompts and raw replies are far bigger than the rest: they are unpacked when somebody opens them.
function asked(item, at, data, raws) {
  const body = el("div", {});
  const made = el("details", { class: "more screen" }, el("summary", {}, "Exact prompts and raw replies"), body);
  made.addEventListener("toggle", async () => {
    if (!made.open || body.childElementCount) return;
    const raw = (await raws(data.part[at]))[at - data.starts[data.part[at]]];
    const text = (stretches) => (stretches || []).flatMap(([from, count]) => raw.lines.slice(from, from + count)).join("\n");
    const prompts = (raw.asked || []).map((one) => {
      const of = [(one.judges || []).join(", "), one.order && one.order !== "none" ? `order ${one.order.toUpperCase()}` : "", one.criterion || ""].filter(Boolean).join(" · ");
      const kept = one.exact ? "as it was sent" : one.filled === false ? "the template" : "filled in again from what the run kept";
      return block("", el("h4", {}, "Prompt: ", own(of), ` (${kept})`), one.system ? prose(text(one.system), [], "code") : null, prose(text(one.user), [], "code"));
    });
    const replies = (raw.answers || []).flatMap(([judge, answers]) => answers.map((one) => {
      const of = [judge, one.order && one.order !== "none" ? `order ${one.order.toUpperCase()}` : "", one.criterion || "", one.repetition ? `repetition ${one.repetition + 1}` : "", one.model].filter(Boolean).join(" · ");
      const cost = [one.source ? { cache: "from the cache", same: "as an identical item", batch: "in a batch" }[one.source] || one.source : "",
        one.calls > 1 ? `${one.calls} calls` : "", one.latency_s ? `${one.latency_s.toFixed(1)} s` : ""].filter(Boolean).join(", ");
      return block("", el("h4", {}, "Reply: ", own(of), cost ? ` (${tidy(cost)})` : ""),
        one.reply ? prose(one.reply, [], "code") : el("p", { class: "soft" }, one.failure ? "" : "No text was kept."), one.failure ? put(el("p", { class: "why", dir: "auto" }), one.failure) : null);
    }));
    body.append(el("div", { class: "inner-raw" }, prompts, replies));
  });
  return made;
}

function itemBody(item, at, data, raws, body) {
  const quotes = [...new Map((item.votes || []).flatMap((v) => v.quotes || []).filter((q) => q.found === true).map((q) => [q.text, q])).values()];
  const show = (text, event) => {
    if (event !== undefined) {
      const turn = body.querySelector(`[data-event="${event}"]`);
      for (const one of body.querySelectorAll("[data-event]")) one.classList.toggle("now", one === turn);
      if (turn) turn.scrollIntoView({ block: "center" });
      return;
    }
    const fold = (value) => value.toLowerCase().replace(/[\s.…"'“”‘’]+/g, " ").trim();
    const wanted = fold(text);
    const marks = [...body.querySelectorAll("mark")];
    const hit = marks.find((m) => fold(m.textContent) === wanted) || marks.find((m) => fold(m.textContent).includes(wanted) || wanted.includes(fold(m.textContent)));
    for (const mark of marks) mark.classList.toggle("now", mark === hit);
    if (hit) hit.scrollIntoView({ block: "center" });
  };
  show.events = (item.messages || []).some((message) => Number.isInteger(message.event));
  const people = Object.entries(item.people || {});
  const rest = Object.entries(item.row || {});
  const about = [item.agreement !== undefined && item.agreement !== null ? `agreement ${Math.round(100 * item.agreement)}%` : "",
    item.calls ? `${item.calls} calls` : "", item.cost || "", data.before && data.before[at] ? `was ${data.before[at]} in the other run` : ""].filter(Boolean);
  const told = item.explanation && !(item.votes || []).some((v) => v.explanation === item.explanation);
  body.replaceChildren(...[
    el("div", { class: "facts" }, badge(item.outcome, item.word), about.map((one) => el("span", {}, tidy(one))),
      (item.tags || []).map((tag) => el("span", { class: "badge" }, own(tag, { class: "word" })))),
    item.error ? block("The target failed; nothing was judged", prose(item.error)) : null,
    told ? reason("p", item.explanation, show) : null,
    people.length ? block("People say", el("div", { class: "facts" }, people.map(([who, value]) => el("span", {}, own(who), ": ", el("strong", {}, own(typeof value === "object" ? JSON.stringify(value) : value)))))) : null,
    ...judgedText(item, quotes),
    panelParts(item, show),
    (item.votes || []).length ? block("Votes", item.votes.map((vote) => voteBox(vote, show))) : null,
    asked(item, at, data, raws),
    (item.notes || []).length ? block("Notes", el("ul", {}, item.notes.map((note) => put(el("li", {}), note)))) : null,
    rest.length ? el("details", { class: "more screen" }, el("summary", {}, "The row"), prose(JSON.stringify(item.row, null, 2), [], "code")) : null,
  ].filter(Boolean));
}
