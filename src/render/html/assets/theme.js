"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const saved = localStorage.getItem("retrylens-theme");
    if (saved === "light" || saved === "dark") root.dataset.theme = saved;
  } catch {
    // Storage may be blocked for pages opened from disk: use the theme of the system.
  }
})();
