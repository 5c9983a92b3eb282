"use strict";

// Everything can be read and sent without this script. It renews what changes, copies commands, and tidies the form.

const LONGEST_PAUSE = 15000;
const live = document.getElementById("live");
const connection = document.getElementById("connection");
let timer = 0;
let failures = 0;
let asking = null;

// Makes `here` equal to `there`, in place: focus, selection and scrolling stay as they are.
function morph(here, there) {
  if (here.nodeType !== there.nodeType || here.nodeName !== there.nodeName) {
    here.replaceWith(there);
    return;
  }
  if (here.nodeType !== Node.ELEMENT_NODE) {
    if (here.data !== there.data) here.data = there.data;
    return;
  }
  if (here.hasAttribute("data-keep") || (here === document.activeElement && here.matches("input"))) return;
  for (const { name } of [...here.attributes]) if (!there.hasAttribute(name)) here.removeAttribute(name);
  for (const { name, value } of there.attributes) if (here.getAttribute(name) !== value) here.setAttribute(name, value);
  morphChildren(here, [...there.childNodes]);
}

// Rows with a key keep their identity when they change places.
function morphChildren(here, wanted) {
  const keyed = new Map();
  for (const child of here.children) if (child.dataset.key !== undefined) keyed.set(child.dataset.key, child);
  wanted.forEach((next, place) => {
    const key = next.dataset === undefined ? undefined : next.dataset.key;
    const current = here.childNodes[place];
    const same = key === undefined ? undefined : keyed.get(key);
    if (same !== undefined) {
      if (same !== current) here.insertBefore(same, current || null);
      morph(same, next);
    } else if (current === undefined) {
      here.append(next);
    } else if (key !== undefined || (current.dataset !== undefined && current.dataset.key !== undefined)) {
      here.insertBefore(next, current);
    } else {
      morph(current, next);
    }
  });
  while (here.childNodes.length > wanted.length) here.lastChild.remove();
}

function show(state, text) {
  if (connection === null) return;
  connection.hidden = false;
  connection.className = `connection ${state}`;
  if (connection.textContent !== text) connection.textContent = text;
}

function renew(html) {
  const there = new DOMParser().parseFromString(html, "text/html").getElementById("live");
  if (there === null) return;
  const active = document.activeElement;
  morph(live, there);
  if (active !== null && active.isConnected && document.activeElement !== active) active.focus({ preventScroll: true });
}

async function ask(path) {
  if (asking !== null) asking.abort();
  const mine = new AbortController();
  asking = mine;
  const limit = setTimeout(() => mine.abort(), LONGEST_PAUSE);
  try {
    const answer = await fetch(path, { signal: mine.signal, cache: "no-store", credentials: "same-origin" });
    if (answer.status === 401 || answer.status === 404) {
      location.reload();
      return;
    }
    if (answer.status === 200) renew(await answer.text());
    else if (answer.status !== 204) throw new Error(`status ${answer.status}`);
    failures = 0;
    show("good", "Live");
  } catch {
    if (asking !== mine) return;
    failures += 1;
    show("lost", "Connection lost, trying again");
  } finally {
    clearTimeout(limit);
    if (asking === mine) {
      asking = null;
      plan();
    }
  }
}

function plan() {
  clearTimeout(timer);
  if (live === null || document.hidden) return;
  const pause = Math.min(LONGEST_PAUSE, Number(live.dataset.pause) * 2 ** Math.min(failures, 4));
  timer = setTimeout(poll, pause);
}

function poll() {
  const separator = live.dataset.live.endsWith("?") ? "" : "&";
  ask(`${live.dataset.live}${separator}seen=${encodeURIComponent(live.dataset.seen)}`);
}

// Sorting, paging and finding renew the same part of the page, and change its address.
function follow(address) {
  const path = live.dataset.live.split("?")[0];
  history.replaceState(null, "", address.pathname + address.search);
  ask(path + address.search);
}

if (live !== null) {
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : poll()));
  live.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-live-link]");
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    follow(new URL(link.href));
  });
  live.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.hasAttribute("data-live-form")) return;
    event.preventDefault();
    const address = new URL(form.action);
    address.search = new URLSearchParams(new FormData(form)).toString();
    follow(address);
  });
  show("good", "Live");
  plan();
}

// What was said once is not said again when the page is reloaded.
if (document.querySelector("[data-said]") !== null) history.replaceState(null, "", location.pathname);

async function copy(button) {
  const text = document.getElementById(button.dataset.copy);
  let done = true;
  try {
    await navigator.clipboard.writeText(text.textContent);
  } catch {
    getSelection().selectAllChildren(text);
    done = false;
  }
  button.textContent = done ? "Copied" : "Selected: copy it";
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

// The form shows the parameters that the chosen policy or noise has, with their defaults.
function tidy(select, fields) {
  let any = false;
  for (const field of fields.querySelectorAll("[data-defaults]")) {
    const value = JSON.parse(field.dataset.defaults)[select.value];
    const input = field.querySelector("input");
    field.hidden = input.disabled = value === undefined;
    input.placeholder = value || "";
    field.querySelector(".for").hidden = true;
    any = any || value !== undefined;
  }
  for (const words of document.querySelectorAll(`[data-without="${select.id}"]`)) words.hidden = any;
}

for (const fields of document.querySelectorAll("[data-parameters]")) {
  const select = document.getElementById(fields.dataset.parameters);
  tidy(select, fields);
  select.addEventListener("change", () => tidy(select, fields));
}
