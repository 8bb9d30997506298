// The page without this is whole; while the page is in sight, this renews it as the coordinator
// tells, says how long ago things were, and says over everything when what is shown may no longer be
// so.
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

  // What the reader had open or scrolled to and where the focus was survive a renewal.
  const renew = (text) => {
    const open = [...main.querySelectorAll("details[open]")].map((d) => d.id);
    const focus = document.activeElement && main.contains(document.activeElement) && main !== document.activeElement ? path(document.activeElement) : null;
    const scrolled = [...main.querySelectorAll(".scroll, .log")].map((s) => [s.scrollLeft, s.scrollTop]);
    main.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
    for (const id of open) {
      const d = document.getElementById(id);
      if (d) d.open = true;
    }
    main.querySelectorAll(".scroll, .log").forEach((s, i) => { [s.scrollLeft, s.scrollTop] = scrolled[i] || [0, 0]; });
    if (focus) {
      const all = [...main.querySelectorAll(focus.tag)];
      const again = all[focus.at] && key(all[focus.at]) === focus.key ? all[focus.at] : all.find((e) => key(e) === focus.key);
      if (again) again.focus({ preventScroll: true });
    }
    tell();
  };
  const key = (e) => e.getAttribute("href") || e.getAttribute("aria-label") || e.textContent;
  const path = (e) => ({ tag: e.tagName, at: [...main.querySelectorAll(e.tagName)].indexOf(e), key: key(e) });

  // The coordinator sends something every 15 s. After silent seconds without it, soon seconds
  // without an answer, or once the connection is lost, what is shown is as old as the last of it.
  const silent = 40, soon = 10;
  let source = null, heard = Date.now(), asked = heard, answered = false, lost = false;
  const judge = () => {
    if (document.hidden) return;
    const old = lost || Date.now() - Math.max(heard, asked) > (answered ? silent : soon) * 1000;
    live.className = "live" + (old ? " off" : answered ? " on" : "");
    live.textContent = old ? "not connected" : answered ? "live" : "connecting";
    document.body.classList.toggle("old", old);
    if (old === !stale.hidden) return;
    stale.textContent = old ? "Not connected since " + new Date(heard).toISOString().slice(11, 19) + " UTC: what is below is as of then and may no longer be so. The page tries again by itself." : "";
    stale.hidden = !old;
  };
  const hear = () => {
    heard = Date.now();
    answered = true;
    lost = false;
    judge();
  };

  // Only a page in sight listens: a browser has six connections to a server without TLS, and the
  // seventh page would never load.
  const listen = () => {
    if (source || document.hidden) return;
    const mine = source = new EventSource(main.dataset.events);
    asked = Date.now();
    source.addEventListener("beat", hear);
    source.addEventListener("page", (e) => {
      renew(e.data);
      hear();
    });
    source.addEventListener("error", async () => {
      if (source !== mine) return;
      lost = true;
      judge();
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
      // It does not where something else was answered: the login has ended, too many pages are
      // open, or a proxy finds no coordinator. Asking for the stream keeps no login from ending.
      rest();
      const asking = new AbortController();
      const answer = await fetch(main.dataset.events, { signal: asking.signal }).catch(() => null);
      asking.abort();
      if (answer && answer.status === 401) location.reload(); // which leads to the login
      else setTimeout(listen, 1000 * soon);
    });
  };
  const rest = () => {
    if (source) source.close();
    source = null;
    answered = false;
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return rest();
    lost = false;
    listen();
    judge();
  });
  addEventListener("pageshow", listen); // by the back button

  listen();
  tell();
  setInterval(() => {
    tell();
    judge();
  }, 1000);
})();
