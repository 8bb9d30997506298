// The page without this is whole; this renews it as the coordinator tells, says how long ago things
// were, and says over everything when what is shown may no longer be so.
"use strict";
(() => {
  const main = document.getElementById("main");
  const live = document.getElementById("live");
  const stale = document.getElementById("stale");
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
    const focus = document.activeElement && main.contains(document.activeElement) && main !== document.activeElement ? path(document.activeElement) : null;
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

  // The coordinator sends something every 15 s. After silent seconds without it, or once the
  // connection is lost, what is shown is as old as the last of it.
  const silent = 40;
  let heard = Date.now(), connected = true;
  const judge = () => {
    const old = !connected || Date.now() - heard > silent * 1000;
    live.className = "live " + (old ? "off" : "on");
    live.textContent = old ? "not connected" : "live";
    document.body.classList.toggle("old", old);
    if (old === !stale.hidden) return;
    stale.textContent = old ? "Not connected since " + new Date(heard).toISOString().slice(11, 19) + " UTC: what is below is as of then and may no longer be so. The page tries again by itself." : "";
    stale.hidden = !old;
  };
  const hear = () => {
    heard = Date.now();
    connected = true;
    judge();
  };
  const source = new EventSource(main.dataset.events);
  source.addEventListener("open", hear);
  source.addEventListener("beat", hear);
  source.addEventListener("page", (e) => {
    renew(e.data);
    hear();
  });
  source.addEventListener("error", async () => {
    connected = false;
    judge();
    if (source.readyState !== EventSource.CLOSED) return;
    // The login has ended, or too many pages are open: the server says which.
    const answer = await fetch(location.pathname).catch(() => null);
    if (answer && answer.status === 401) location.reload(); // which leads to the login
  });

  tell();
  setInterval(() => {
    tell();
    judge();
  }, 1000);
})();
