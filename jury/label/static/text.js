// Texts of other people on the page: always as text, with what is hidden in them made visible.

const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;
const NAMES = {
  0x00ad: "soft hyphen", 0x200b: "zero width space", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark",
  0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding", 0x202c: "end of direction",
  0x202d: "left-to-right override", 0x202e: "right-to-left override", 0xfeff: "byte order mark",
};
const PIECE = 8000; // characters
const MOST = 500; // marks in one text; the rest is shown as a replacement character

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Fills an element with a text. Characters that show nothing, or turn the reading direction, become marks.
export function fill(element, text) {
  element.replaceChildren();
  const count = { marks: 0 };
  if (text.length <= 2 * PIECE) return piece(element, text, count);
  // One paragraph of a megabyte takes a browser many seconds to lay out; its pieces take none.
  for (let at = 0; at < text.length; ) {
    const [end, next] = cut(text, at);
    element.append(piece(make("div"), text.slice(at, end) || "\n", count));
    at = next;
  }
  return element;
}

// Where a piece ends and the next one starts: after a line, which the new piece stands for; else after a word.
function cut(text, at) {
  const most = at + PIECE;
  if (most >= text.length) return [text.length, text.length];
  const newline = text.lastIndexOf("\n", most);
  if (newline > at) return [newline, newline + 1];
  const space = text.lastIndexOf(" ", most);
  const end = space > at ? space + 1 : most;
  const halved = /[\ud800-\udbff]/.test(text[end - 1]);
  return halved ? [end + 1, end + 1] : [end, end];
}

function piece(element, text, count) {
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > at) element.append(text.slice(at, match.index));
    at = match.index + match[0].length;
    count.marks += 1;
    if (count.marks > MOST) {
      element.append("\ufffd");
      continue;
    }
    const code = match[0].codePointAt(0);
    const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    element.append(make("span", { class: "mark", title: NAMES[code] ?? "not printable" }, name));
  }
  if (at < text.length) element.append(text.slice(at));
  return element;
}

// A short text of one line: what is hidden in it is left out.
export function line(text) {
  return String(text).replace(HIDDEN, "\ufffd");
}
