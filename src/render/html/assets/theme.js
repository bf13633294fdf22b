"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("retrylens-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch {
    // A page opened from disk may not be allowed to keep anything: the system's theme holds.
  }
})();
