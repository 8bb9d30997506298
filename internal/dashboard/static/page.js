// The page without this is whole; this renews it as the coordinator tells, and says how
// long ago things were.
"use strict";
(() => {
  const main = document.getElementById("main");
  const live = document.getElementById("live");
  if (!main || !main.dataset.events) return;

  const far = (seconds) => {
    const s = Math.round(Math.abs(seconds));
    const text = s < 90 ? s + " s" : s < 5400 ? Math.round(s / 60) + " min" : s < 172800 ? Math.round(s / 3600) + " h" : Math.round(s / 86400) + " days";
    return seconds < 0 ? "in " + text : text + " ago";
  };
  const tell = () => {
    for (const t of document.querySelectorAll("time[data-tell]")) {
      t.dataset.far = far((Date.now() - Date.parse(t.dateTime)) / 1000);
    }
  };

  // What the reader had open and where the focus was survive a renewal.
  const renew = (text) => {
    const open = [...main.querySelectorAll("details[open]")].map((d) => d.id);
    const focus = document.activeElement && main.contains(document.activeElement) ? path(document.activeElement) : null;
    const scrolled = [...main.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
    main.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
    for (const id of open) {
      const d = document.getElementById(id);
      if (d) d.open = true;
    }
    main.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] || 0; });
    if (focus) {
      const again = main.querySelectorAll(focus.tag)[focus.at];
      if (again) again.focus({ preventScroll: true });
    }
    tell();
  };
  const path = (e) => ({ tag: e.tagName, at: [...main.querySelectorAll(e.tagName)].indexOf(e) });

  const state = (text, name) => {
    live.textContent = text;
    live.className = "live " + name;
  };
  const source = new EventSource(main.dataset.events);
  source.addEventListener("open", () => state("live", "on"));
  source.addEventListener("page", (e) => renew(e.data));
  source.addEventListener("error", async () => {
    state("not connected; trying again", "off");
    if (source.readyState !== EventSource.CLOSED) return;
    // The session has ended, or too many pages are open: the server says which.
    const answer = await fetch(location.pathname, { redirect: "manual" }).catch(() => null);
    if (answer && answer.type === "opaqueredirect") location.reload();
  });

  tell();
  setInterval(tell, 1000);
})();
