"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  // Theme: that of the system, unless the user chose the other one with the button.
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const toggle = one("[data-theme-toggle]");
  const theme = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const otherTheme = () => (theme() === "dark" ? "light" : "dark");
  const saveTheme = () => {
    try {
      if (root.dataset.theme) localStorage.setItem("retrylens-theme", root.dataset.theme);
      else localStorage.removeItem("retrylens-theme");
    } catch {
      // Storage is blocked: the choice holds for this page only.
    }
  };
  const updateToggle = () => {
    toggle.textContent = otherTheme() === "dark" ? "Dark" : "Light";
    toggle.title = `Switch to the ${otherTheme()} theme`;
  };
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const next = otherTheme();
    if (next === (system.matches ? "dark" : "light")) delete root.dataset.theme;
    else root.dataset.theme = next;
    saveTheme();
    updateToggle();
  });
  system.addEventListener("change", updateToggle);
  updateToggle();

  // Rows with details that can be expanded.
  const isOpen = (row) => row.classList.contains("opened");
  const setOpen = (row, open) => {
    const button = one(".opener", row);
    if (!button) return;
    row.classList.toggle("opened", open);
    button.setAttribute("aria-expanded", String(open));
  };

  // Tables with sorting, filters and pages. Each row is a tbody, which also contains its details.
  const tables = new Map();
  for (const table of all("table[data-table]")) tables.set(table, makeInteractive(table));

  function makeInteractive(table) {
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

    // The text of a row is read only when a filter needs it.
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
      const descending = now ? now === "ascending" : numbers;
      const key = (row) => {
        const cell = row.rows[0].cells[column];
        const value = cell.dataset.key ?? cell.textContent.trim();
        return numbers ? Number(value) : value;
      };
      const keys = new Map(rows.map((row) => [row, key(row)]));
      const compare = numbers ? (a, b) => a - b : new Intl.Collator("en", { numeric: true }).compare;
      const sign = descending ? -1 : 1;
      order = [...rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
      for (const one of heads) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      table.append(...order);
      page = 0;
      show();
    };

    for (const head of all("th[data-sort]", table)) one("button", head).addEventListener("click", () => sort(head));
    const showFirstPage = () => {
      page = 0;
      show();
    };
    if (field) field.addEventListener("input", showFirstPage);
    for (const facet of facets) {
      facet.addEventListener("click", () => {
        facet.setAttribute("aria-pressed", String(facet.getAttribute("aria-pressed") !== "true"));
        showFirstPage();
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
    // A click on a row toggles its details, unless it is on a link or button, or text is selected.
    table.addEventListener("click", (event) => {
      const line = event.target.closest("tr.row");
      if (!line || event.target.closest("a, summary, button:not(.opener)") || String(getSelection())) return;
      setOpen(line.parentElement, !isOpen(line.parentElement));
    });
    show();

    // Shows the page that contains a row, and clears the filters if they hide it.
    return (row) => {
      if (!matching().includes(row)) {
        if (field) field.value = "";
        for (const facet of facets) facet.setAttribute("aria-pressed", "false");
      }
      page = Math.floor(matching().indexOf(row) / size);
      show();
    };
  }

  // Links within the page: to ids, and to names such as #run=NAME.
  const target = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      // Not valid percent-encoding: use the name unchanged.
    }
    if (!name) return null;
    return document.getElementById(name) || one(`[data-link="${CSS.escape(name)}"]`);
  };
  const followHash = () => {
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
  addEventListener("hashchange", followHash);
  // A second click on the same link does not fire `hashchange`.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) followHash();
  });
  followHash();

  // "/" moves the focus to the first filter, as on many sites.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const field = one(".tools input");
    if (!field) return;
    event.preventDefault();
    field.focus();
  });
})();
