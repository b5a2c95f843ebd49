// Text of others, shown as text: nothing in it acts, turns the line around, or hides.

// Codes that act on the text around them. Tab and line feed are what they are.
const ACTING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
const LONG = 1400;
const AROUND = 160;

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const key in attributes || {}) {
    const value = attributes[key];
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) made.append(child);
  }
  return made;
}

// One line of text, for attributes and list rows.
function tidy(text) {
  return String(text).replace(ACTING, "\ufffd");
}

// A name of others, kept apart from the direction of the text around it.
function own(text, attributes) {
  return put(el("bdi", attributes), text);
}

// Appends text; codes that would act become small signs that name them.
function put(parent, text) {
  let from = 0;
  const given = String(text).replace(/\r\n?/g, "\n");
  for (const hit of given.matchAll(ACTING)) {
    if (hit.index > from) parent.append(given.slice(from, hit.index));
    const code = "U+" + hit[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    parent.append(el("span", { class: "ctl", title: "a control character in the text" }, code));
    from = hit.index + 1;
  }
  if (from < given.length) parent.append(given.slice(from));
  return parent;
}

const spell = (part) => part
  .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  .replace(/["“”„«»]/g, '["“”„«»]')
  .replace(/['‘’‚`]/g, "['‘’‚`]")
  .replace(/[-–—−‐‑]/g, "[-–—−‐‑]")
  .replace(/\s+/g, "\\s+");

// Where a quote stands in a text: [start, end] of each of its parts, none if it is not there word for word.
function places(text, quote) {
  const parts = quote.slice(0, 4000).split(/\s*(?:\[\s*(?:\.{3}|…)[^\]]{0,40}\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*/);
  const found = [];
  let from = 0;
  for (const raw of parts) {
    const part = raw.trim().replace(/^["'“”‘’]+|["'“”‘’]+$/g, "");
    if (part.length < 3) continue;
    let hit = null;
    for (const form of [part, part.replace(/[.,;:!?]+$/, "")]) {
      if (form.length < 3) continue;
      const look = new RegExp(spell(form), "giu");
      look.lastIndex = from;
      hit = look.exec(text);
      if (hit) break;
    }
    if (!hit) return [];
    found.push([hit.index, hit.index + hit[0].length]);
    from = hit.index + hit[0].length;
  }
  return found;
}

// Where a quote stands, as [start, end, with edits]. `words` are what was found in its place, as it stands there.
function found(text, quote) {
  if (!quote.words) return places(text, quote.text);
  const made = [];
  let from = 0;
  for (const words of quote.words) {
    const at = text.indexOf(words, from);
    if (at < 0) return [];
    from = at + words.length;
    made.push([at, from, Boolean(quote.near)]);
  }
  return made;
}

function merged(ranges) {
  const out = [];
  for (const range of ranges.sort((a, b) => a[0] - b[0])) {
    const last = out[out.length - 1];
    if (last && range[0] <= last[1]) [last[1], last[2]] = [Math.max(last[1], range[1]), last[2] && range[2]];
    else out.push([...range]);
  }
  return out;
}

function pieces(parent, text, from, to, marks) {
  let at = from;
  for (const [start, end, near] of marks) {
    if (end <= from || start >= to) continue;
    if (start > at) put(parent, text.slice(at, start));
    parent.append(put(el("mark", { class: near ? "near" : null }), text.slice(Math.max(start, at), Math.min(end, to))));
    if (near && end <= to) parent.append(el("span", { class: "nearly" }, "≈ nearly quoted"));
    at = Math.min(end, to);
  }
  if (at < to) put(parent, text.slice(at, to));
}

// A block of text with its quotes marked. Long ones show their beginning and what is around each mark.
function prose(text, quotes, more) {
  const marks = merged((quotes || []).flatMap((quote) => found(text, quote)));
  const box = el("div", { class: "prose" + (more ? " " + more : ""), dir: "auto" });
  const lines = text.split("\n", 24);
  const cut = lines.length > 22 ? Math.min(LONG, lines.slice(0, 20).join("\n").length) : LONG;
  if (text.length <= cut * 1.15 + 100 && lines.length <= 22) {
    pieces(box, text, 0, text.length, marks);
    return el("div", {}, box);
  }
  const windows = merged([[0, cut], ...marks.slice(0, 40).map((m) => [Math.max(0, m[0] - AROUND), Math.min(text.length, m[1] + AROUND)])]);
  let at = 0;
  const gap = (size) => box.append(el("span", { class: "cut" }, ` [… ${size.toLocaleString("en")} characters …] `));
  for (const [start, end] of windows) {
    if (start > at) gap(start - at);
    pieces(box, text, start, end, marks);
    at = end;
  }
  if (at < text.length) gap(text.length - at);
  const button = el("button", { type: "button", class: "link screen" }, `Show all (${text.length.toLocaleString("en")} characters)`);
  button.addEventListener("click", () => {
    box.replaceChildren();
    box.classList.add("whole");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "The whole text");
    pieces(box, text, 0, text.length, marks);
    button.remove();
    box.focus();
  });
  return el("div", {}, box, button);
}

const OUTCOMES = {
  pass: ["✓", "pass"], fail: ["✕", "fail"], na: ["–", "NA"], inconclusive: ["?", "inconclusive"], error: ["!", "error"],
  not_judged: ["∅", "not judged"], unrated: ["•", "rated"], A: ["A", "A"], B: ["B", "B"], tie: ["=", "tie"],
  abstained: ["○", "abstained"], flip: ["⇄", "flip"], none: ["·", "not asked"],
};

function badge(outcome, word) {
  const [sign, plain] = OUTCOMES[outcome] || ["•", outcome];
  const text = tidy(word || plain);
  return el("span", { class: `badge v-${outcome}` },
    sign === text ? null : el("span", { "aria-hidden": "true" }, sign), el("span", { class: "word txt", dir: "auto" }, text));
}
