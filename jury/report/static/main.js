// The page comes to life: list, filters, opened item, links that name an item.

function csvCell(value) {
  const text = value === null || value === undefined ? "" : tidy(value);
  const safe = typeof value === "string" && /^[\s]*[=+\-@]|^[\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function save(name, text, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function start() {
  const data = await unpack("index");
  const at = new Map(data.id.map((id, number) => [id, number]));
  const details = shelf("part-", 6);
  const raws = shelf("raw-", 2);
  const search = library(data, details);
  const bench = document.getElementById("bench");
  const sheet = document.getElementById("sheet");
  const wide = matchMedia("(min-width: 1080px)");
  let opened = null;
  let turn = 0;

  const list = makeList(data, search, open);
  const title = el("h3", { tabindex: "-1", id: "sheet-title" });
  const place = el("span", { class: "small soft" });
  const body = el("div", { class: "inner" });
  const copied = el("button", { type: "button", class: "button", onclick: copy }, "Copy link");
  const before = el("button", { type: "button", class: "button", onclick: () => list.step(-1), "aria-label": "Previous item" }, "↑");
  const after = el("button", { type: "button", class: "button", onclick: () => list.step(1), "aria-label": "Next item" }, "↓");
  sheet.append(el("div", { class: "head" }, title, place, before, after, copied, el("button", { type: "button", class: "button", onclick: close }, "Close")), body);

  async function open(number, focus) {
    const mine = ++turn;
    opened = number;
    history.replaceState(null, "", `#item=${encodeURIComponent(data.id[number])}`);
    const part = await details(data.part[number]);
    if (mine !== turn) return;
    title.replaceChildren(own(data.id[number]));
    itemBody(part[number - data.starts[data.part[number]]], number, data, raws, body);
    arrange(true);
    list.select(number);
    const [now, all] = list.place();
    place.textContent = `${(now + 1).toLocaleString("en")} of ${all.toLocaleString("en")}`;
    before.disabled = now <= 0;
    after.disabled = now >= all - 1;
    sheet.scrollTop = 0;
    if (focus) title.focus({ preventScroll: wide.matches });
  }

  function arrange(showing) {
    sheet.classList.toggle("hidden", !showing);
    bench.classList.toggle("open", showing);
    const over = showing && !wide.matches;
    document.body.classList.toggle("covered", over);
    document.body.classList.toggle("beside", showing && wide.matches);
    if (over) { sheet.setAttribute("role", "dialog"); sheet.setAttribute("aria-modal", "true"); }
    else { sheet.setAttribute("role", "region"); sheet.removeAttribute("aria-modal"); }
  }

  function close() {
    if (opened === null) return;
    const last = opened;
    opened = null;
    turn++;
    arrange(false);
    history.replaceState(null, "", location.pathname + location.search);
    list.select(last);
    list.focus();
  }

  async function copy() {
    const link = location.href;
    try {
      await navigator.clipboard.writeText(link);
      copied.textContent = "Copied";
    } catch {
      copied.textContent = "Copy it from the address bar";
    }
    setTimeout(() => { copied.textContent = "Copy link"; }, 2500);
  }

  // A phone's sheet covers the page: the tab key stays in it.
  function fence(event) {
    if (event.key !== "Tab" || wide.matches) return;
    const stops = [...sheet.querySelectorAll("button:not(:disabled), summary, a[href], [tabindex='0']")].filter((one) => one.offsetParent);
    const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
    if (document.activeElement === edge || (event.shiftKey && document.activeElement === title)) {
      event.preventDefault();
      (event.shiftKey ? stops[stops.length - 1] : stops[0]).focus();
    }
  }
  sheet.addEventListener("keydown", fence);
  wide.addEventListener("change", () => arrange(opened !== null));

  const live = document.getElementById("live");
  const chips = [...document.querySelectorAll(".chip[data-flag]")];
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      const on = chip.getAttribute("aria-pressed") !== "true";
      chip.setAttribute("aria-pressed", String(on));
      if (on) list.state.flags.add(chip.dataset.flag);
      else list.state.flags.delete(chip.dataset.flag);
      list.apply();
    });
  }
  const bind = (id, key) => {
    const field = document.getElementById(id);
    if (field) field.addEventListener("change", () => { list.state[key] = field.value; list.apply(); });
    return field;
  };
  const fields = [bind("outcome", "outcome"), bind("tag", "tag"), bind("order", "order")];
  const box = document.getElementById("search");
  let timer = 0;
  // What is found must be in sight while one types: the search to the top of the window, the list right below it.
  const reveal = () => {
    if (document.getElementById("list").getBoundingClientRect().top > innerHeight * 0.7) live.scrollIntoView({ block: "start", behavior: "instant" });
  };
  box.addEventListener("input", () => {
    reveal();
    clearTimeout(timer);
    timer = setTimeout(() => { list.state.query = box.value; list.apply(); }, 120);
  });
  const finding = document.getElementById("finding");
  const cleared = document.getElementById("clear");
  function reset() {
    list.state.flags.clear();
    Object.assign(list.state, { outcome: "", tag: "", finding: null, query: "" });
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    for (const field of fields.slice(0, 2)) if (field) field.value = "";
    box.value = "";
    finding.classList.add("hidden");
  }
  cleared.addEventListener("click", () => { reset(); list.apply(); box.focus(); });
  document.getElementById("csv").addEventListener("click", () => {
    const lines = [["id", "verdict", "agreement", ...data.judges, "text", "why"], ...list.shown().map((n) => [
      data.id[n], data.word[n], data.agreement[n], ...[...data.votes[n]].map((c) => OUTCOMES[SIGNS[c] || "none"][1]), data.text[n], data.why[n]])];
    save("items.csv", lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n", "text/csv");
  });

  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if (opened !== null && !wide.matches) close();
      box.focus({ preventScroll: true });
      box.select();
      live.scrollIntoView({ block: "start", behavior: "instant" });
    } else if (event.key === "Escape") {
      if (opened !== null) close();
      else if (document.activeElement === box && box.value) { box.value = ""; list.state.query = ""; list.apply(); }
    } else if (event.key === "ArrowDown" && document.activeElement === box) {
      event.preventDefault();
      list.focus();
    }
  });

  async function follow() {
    const hash = location.hash;
    const wanted = (key) => {
      try { return hash.startsWith(`#${key}=`) ? decodeURIComponent(hash.slice(key.length + 2)) : null; } catch { return null; }
    };
    const id = wanted("item");
    const group = wanted("finding");
    if (id !== null && at.has(id)) {
      if (!list.shown().includes(at.get(id))) { reset(); await list.apply(); }
      document.getElementById("items").scrollIntoView({ behavior: "instant" });
      await open(at.get(id), true);
    } else if (id !== null) {
      document.getElementById("count").textContent = `No item is called ${tidy(id)}`;
    } else if (group !== null && data.findings[Number(group)]) {
      reset();
      list.state.finding = Number(group);
      finding.replaceChildren("Only the items of the finding ", el("bdi", {}, `“${tidy(data.titles[Number(group)])}”. `));
      finding.classList.remove("hidden");
      await list.apply();
      document.getElementById("items").scrollIntoView();
    }
  }
  addEventListener("hashchange", follow);

  live.classList.remove("hidden");
  document.getElementById("wait").remove();
  await list.apply();
  performance.mark("usable");
  document.documentElement.dataset.ready = "yes";
  await follow();
}

start().catch((error) => {
  const wait = document.getElementById("wait");
  if (wait) wait.textContent = `The list of items could not be opened: ${error.message}. A current browser is needed.`;
  throw error;
});
