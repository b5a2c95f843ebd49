// The list of items: filters, search, order, and only as many rows as can be seen.

const SIGNS = { p: "pass", f: "fail", n: "na", a: "abstained", e: "error", x: "flip", A: "A", B: "B", t: "tie", s: "unrated", " ": "none" };
const WORST = ["fail", "error", "inconclusive", "not_judged", "B", "tie", "A", "na", "unrated", "pass"];
const ORDERS = {
  worst: (d) => (a, b) => WORST.indexOf(d.outcomes[d.outcome[a]]) - WORST.indexOf(d.outcomes[d.outcome[b]]) || a - b,
  data: () => (a, b) => a - b,
  agreement: (d) => (a, b) => (d.agreement[a] ?? 2) - (d.agreement[b] ?? 2) || a - b,
  name: (d) => (a, b) => d.id[a].localeCompare(d.id[b], "en", { numeric: true }) || a - b,
};

function makeList(data, search, onOpen) {
  const box = document.getElementById("list");
  const run = document.getElementById("run");
  const count = document.getElementById("count");
  const state = { flags: new Set(), outcome: "", tag: "", finding: null, query: "", order: "worst" };
  const rows = new Map();
  const sorted = new Map();
  let shown = [];
  let active = 0;
  let height = 64;
  let asked = 0;

  const bits = new Map(data.flags.map((flag, at) => [flag, 1 << at]));
  const named = (at) => data.outcomes[data.outcome[at]];

  function order() {
    if (!sorted.has(state.order)) {
      sorted.set(state.order, data.id.map((_, at) => at).sort(ORDERS[state.order](data)));
    }
    return sorted.get(state.order);
  }

  function filtered() {
    let mask = 0;
    for (const flag of state.flags) mask |= bits.get(flag);
    const tag = state.tag === "" ? null : Number(state.tag);
    const outcome = state.outcome === "" ? null : Number(state.outcome);
    const found = state.finding === null ? null : new Set(data.findings[state.finding]);
    return order().filter((at) => (data.flag[at] & mask) === mask && (outcome === null || data.outcome[at] === outcome)
      && (tag === null || data.tag[at].includes(tag)) && (found === null || found.has(at)));
  }

  async function apply() {
    const mine = ++asked;
    const base = filtered();
    const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return fill(base, "");
    const hits = new Set();
    const parts = [...new Set(base.map((at) => data.part[at]))].sort((a, b) => a - b);
    const wanted = new Set(base);
    let drawn = performance.now();
    for (const part of parts) {
      const texts = await search(part);
      if (mine !== asked) return;
      const first = data.starts[part];
      texts.forEach((text, i) => {
        if (wanted.has(first + i) && words.every((word) => text.includes(word))) hits.add(first + i);
      });
      if (performance.now() - drawn > 150) {
        drawn = performance.now();
        fill(base.filter((at) => hits.has(at)), " so far");
      }
    }
    fill(base.filter((at) => hits.has(at)), "");
  }

  function fill(found, yet) {
    const before = shown[active];
    shown = found;
    active = Math.max(0, shown.indexOf(before));
    for (const row of rows.values()) row.remove();
    rows.clear();
    run.style.height = `${shown.length * height}px`;
    box.classList.toggle("none", shown.length === 0);
    document.getElementById("empty").classList.toggle("hidden", shown.length > 0);
    if (!shown.includes(before)) box.scrollTop = 0;
    count.textContent = `${shown.length.toLocaleString("en")} of ${data.id.length.toLocaleString("en")} items${yet}`;
    draw();
    printed();
  }

  function row(place) {
    const at = shown[place];
    const outcome = named(at);
    const votes = [...data.votes[at]];
    const signs = votes.map((c, i) => {
      const kind = SIGNS[c] || "none";
      return el("span", { class: `vote-sign v-${kind}`, title: tidy(`${data.judges[i]}: ${OUTCOMES[kind][1]}`) }, OUTCOMES[kind][0]);
    });
    const spoken = votes.map((c, i) => `${data.judges[i]} ${OUTCOMES[SIGNS[c] || "none"][1]}`).join(", ");
    const tags = data.tag[at].map((t) => data.tags[t]).join(", ");
    return el("div", {
      class: "row", role: "option", id: `row-${at}`, "aria-posinset": place + 1, "aria-setsize": shown.length,
      "aria-selected": place === active,
      "aria-label": tidy(`${data.id[at]}: ${data.word[at]}. ${data.text[at]}${spoken ? `. Votes: ${spoken}` : ""}`),
      onclick: () => { move(place); open(place, true); },
    },
    badge(outcome, data.word[at]),
    el("span", { class: "body" },
      el("span", { class: "line name" }, own(data.id[at]), tags ? own(tags, { class: "tags" }) : null),
      el("span", { class: "line txt", dir: "auto" }, tidy(data.text[at]) || "(no text)")),
    el("span", { class: "votes", "aria-hidden": "true" }, signs.slice(0, 9)));
  }

  function draw() {
    const from = Math.max(0, Math.floor(box.scrollTop / height) - 8);
    const to = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + 8);
    for (const [place, made] of rows) {
      if ((place < from || place >= to) && place !== active) { made.remove(); rows.delete(place); }
    }
    const fresh = document.createDocumentFragment();
    const show = (place) => {
      if (rows.has(place) || place >= shown.length) return;
      const made = row(place);
      made.style.transform = `translateY(${place * height}px)`;
      rows.set(place, made);
      fresh.append(made);
    };
    for (let place = from; place < to; place++) show(place);
    show(active);
    run.append(fresh);
    if (shown.length) box.setAttribute("aria-activedescendant", `row-${shown[active]}`);
    else box.removeAttribute("aria-activedescendant");
  }

  function move(place) {
    if (!shown.length) return;
    const to = Math.max(0, Math.min(shown.length - 1, place));
    const old = rows.get(active);
    if (old) old.setAttribute("aria-selected", "false");
    active = to;
    const top = to * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    draw();
    const now = rows.get(active);
    if (now) now.setAttribute("aria-selected", "true");
  }

  function open(place, focus) {
    if (shown.length) onOpen(shown[Math.max(0, Math.min(shown.length - 1, place))], focus);
  }

  function keys(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / height) - 1);
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, j: active + 1, k: active - 1, PageDown: active + page, PageUp: active - page,
      Home: 0, End: shown.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(to);
      if (document.body.classList.contains("beside")) open(active, false);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(active, true);
    }
  }

  // On paper: what the filters leave, the first 200 of it.
  function printed() {
    const paper = document.getElementById("print-items");
    const some = shown.slice(0, 200);
    const told = some.length < shown.length ? `The first ${some.length} of ${shown.length} items in the list` : "The items in the list";
    paper.replaceChildren(el("h3", {}, `${told}:`), ...some.map((at) => el("div", { class: "printed" },
      badge(named(at), data.word[at]), " ", own(data.id[at], { class: "mono" }),
      el("div", { class: "txt", dir: "auto" }, tidy(data.text[at])), el("div", { class: "soft txt", dir: "auto" }, tidy(data.why[at])))));
  }

  let waiting = false;
  box.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }, { passive: true });
  box.addEventListener("keydown", keys);
  const measure = () => {
    const wanted = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 64;
    const anew = wanted !== height;
    height = wanted;
    if (anew) fill(shown, "");
    else draw();
  };
  new ResizeObserver(measure).observe(box);
  height = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 64;

  return {
    state, apply, move,
    focus: () => box.focus(),
    shown: () => shown,
    select: (at) => { const place = shown.indexOf(at); if (place >= 0) move(place); return place; },
    step: (by) => { move(active + by); open(active, false); },
    place: () => [active, shown.length],
  };
}
