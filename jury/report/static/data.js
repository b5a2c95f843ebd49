// What was packed into the page: base64 of gzip of JSON, in script elements that are never run.

async function unpack(name) {
  const held = document.getElementById(name);
  const text = atob(held.textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Parts of the data that are read when they are needed. The last few are kept.
function shelf(prefix, keep) {
  const held = new Map();
  return (number) => {
    let part = held.get(number);
    if (part) held.delete(number);
    else part = unpack(prefix + number);
    held.set(number, part);
    if (held.size > keep) held.delete(held.keys().next().value);
    return part;
  };
}

// All words of the items, by part, lower case: read once, when somebody searches.
function library(index, details) {
  const shelves = new Map();
  const words = (value, into) => {
    if (typeof value === "string") into.push(value);
    else if (Array.isArray(value)) for (const one of value) words(one, into);
    else if (value && typeof value === "object") for (const key in value) words(value[key], into);
  };
  return (part) => {
    if (!shelves.has(part)) {
      shelves.set(part, details(part).then((items) => items.map((item) => {
        const found = [];
        words(item, found);
        return found.join("\n").toLowerCase();
      })));
    }
    return shelves.get(part);
  };
}
