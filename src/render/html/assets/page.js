"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  // Theme: the system's, unless the button chose the other one.
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const toggle = one("[data-theme-toggle]");
  const theme = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const other = () => (theme() === "dark" ? "light" : "dark");
  const keep = () => {
    try {
      if (root.dataset.theme) localStorage.setItem("retrylens-theme", root.dataset.theme);
      else localStorage.removeItem("retrylens-theme");
    } catch {
      // Not kept beyond this page: no reason to complain.
    }
  };
  const offer = () => {
    toggle.textContent = other() === "dark" ? "Dark" : "Light";
    toggle.title = `Switch to the ${other()} theme`;
  };
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const next = other();
    if (next === (system.matches ? "dark" : "light")) delete root.dataset.theme;
    else root.dataset.theme = next;
    keep();
    offer();
  });
  system.addEventListener("change", offer);
  offer();

  // Rows that open.
  const isOpen = (row) => row.classList.contains("opened");
  const setOpen = (row, open) => {
    const button = one(".opener", row);
    if (!button) return;
    row.classList.toggle("opened", open);
    button.setAttribute("aria-expanded", String(open));
  };

  // Tables: sort, filter, page. A row is a tbody.
  const tables = new Map();
  for (const table of all("table[data-table]")) tables.set(table, enliven(table));

  function enliven(table) {
    const rows = [...table.tBodies];
    const size = Number(table.dataset.page);
    const tools = one(`[data-tools="${table.id}"]`);
    const pager = one(`[data-pager="${table.id}"]`);
    const field = tools && one("input", tools);
    const facets = tools ? all("[data-facet]", tools) : [];
    const texts = new Map();
    let order = rows;
    let page = 0;
    let paged = rows.length > size;

    // What a row holds is read when somebody looks for something, not before.
    const text = (row) => {
      if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
      return texts.get(row);
    };
    const matching = () => {
      const words = field ? field.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      const chosen = facets.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.facet);
      const fits = (row) =>
        (chosen.length === 0 || chosen.includes(row.dataset.facet)) && words.every((word) => text(row).includes(word));
      return words.length + chosen.length === 0 ? order : order.filter(fits);
    };
    const show = () => {
      const found = matching();
      const pages = Math.max(1, Math.ceil(found.length / size));
      page = Math.min(page, pages - 1);
      const shown = new Set(paged ? found.slice(page * size, (page + 1) * size) : found);
      for (const row of rows) row.hidden = !shown.has(row);
      if (tools) one(".found", tools).textContent = found.length < rows.length ? `${found.length} of ${rows.length}` : "";
      if (!pager) return;
      pager.hidden = found.length <= size;
      const first = paged ? page * size + 1 : 1;
      one(".where", pager).textContent = `${first} to ${first + shown.size - 1} of ${found.length}`;
      one('[data-go="-1"]', pager).disabled = !paged || page === 0;
      one('[data-go="1"]', pager).disabled = !paged || page === pages - 1;
      one('[data-go="all"]', pager).textContent = paged ? "Show all" : "Show pages";
    };
    const sort = (head) => {
      const heads = all("th", table);
      const column = heads.indexOf(head);
      const numbers = head.dataset.sort === "number";
      const now = head.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numbers;
      const key = (row) => {
        const cell = row.rows[0].cells[column];
        const value = cell.dataset.key ?? cell.textContent.trim();
        return numbers ? Number(value) : value;
      };
      const keys = new Map(rows.map((row) => [row, key(row)]));
      const compare = numbers ? (a, b) => a - b : new Intl.Collator("en", { numeric: true }).compare;
      const sign = down ? -1 : 1;
      order = [...rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
      for (const one of heads) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.append(...order);
      page = 0;
      show();
    };

    for (const head of all("th[data-sort]", table)) one("button", head).addEventListener("click", () => sort(head));
    const again = () => {
      page = 0;
      show();
    };
    if (field) field.addEventListener("input", again);
    for (const facet of facets) {
      facet.addEventListener("click", () => {
        facet.setAttribute("aria-pressed", String(facet.getAttribute("aria-pressed") !== "true"));
        again();
      });
    }
    if (pager) {
      pager.addEventListener("click", (event) => {
        const go = event.target.dataset.go;
        if (!go) return;
        if (go === "all") paged = !paged;
        else page += Number(go);
        show();
      });
    }
    // On a row, anywhere but on what has a meaning of its own, and not while text is being marked.
    table.addEventListener("click", (event) => {
      const line = event.target.closest("tr.row");
      if (!line || event.target.closest("a, summary, button:not(.opener)") || String(getSelection())) return;
      setOpen(line.parentElement, !isOpen(line.parentElement));
    });
    show();

    // Brings a row to light whatever is chosen at the moment.
    return (row) => {
      if (!matching().includes(row)) {
        if (field) field.value = "";
        for (const facet of facets) facet.setAttribute("aria-pressed", "false");
      }
      page = Math.floor(matching().indexOf(row) / size);
      show();
    };
  }

  // Links into the page: ids, and names such as #run=NAME.
  const target = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      // Not percent-encoded after all: taken as it is.
    }
    if (!name) return null;
    return document.getElementById(name) || one(`[data-link="${CSS.escape(name)}"]`);
  };
  const follow = () => {
    const found = target();
    if (!found) return;
    for (let at = found; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.tagName !== "TBODY") continue;
      const reveal = tables.get(at.parentElement);
      if (!reveal) continue;
      reveal(at);
      setOpen(at, true);
    }
    for (const old of all(".targeted")) old.classList.remove("targeted");
    found.classList.add("targeted");
    found.scrollIntoView({ block: "start" });
    const button = one(".opener, summary", found);
    if (button) button.focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  // The same link again is no change of the hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) follow();
  });
  follow();

  // "/" goes to the first filter, as people expect.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const field = one(".tools input");
    if (!field) return;
    event.preventDefault();
    field.focus();
  });
})();
