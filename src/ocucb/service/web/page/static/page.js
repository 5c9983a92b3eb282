"use strict";

// Everything can be read and sent without this script. It updates what changes, copies commands, and shows the parameters that a form needs.

const MAX_INTERVAL = 15000;
const live = document.getElementById("live");
const connection = document.getElementById("connection");
let timer = 0;
let failures = 0;
let request = null;

// Makes `current` equal to `wanted`, in place: focus, selection and scrolling stay as they are.
function morph(current, wanted) {
  if (current.nodeType !== wanted.nodeType || current.nodeName !== wanted.nodeName) {
    current.replaceWith(wanted);
    return;
  }
  if (current.nodeType !== Node.ELEMENT_NODE) {
    if (current.data !== wanted.data) current.data = wanted.data;
    return;
  }
  if (current.hasAttribute("data-keep") || (current === document.activeElement && current.matches("input"))) return;
  for (const { name } of [...current.attributes]) if (!wanted.hasAttribute(name)) current.removeAttribute(name);
  for (const { name, value } of wanted.attributes) if (current.getAttribute(name) !== value) current.setAttribute(name, value);
  morphChildren(current, [...wanted.childNodes]);
}

// Rows with a key keep their identity when they change places.
function morphChildren(parent, wanted) {
  const keyed = new Map();
  for (const child of parent.children) if (child.dataset.key !== undefined) keyed.set(child.dataset.key, child);
  wanted.forEach((next, position) => {
    const key = next.dataset === undefined ? undefined : next.dataset.key;
    const current = parent.childNodes[position];
    const same = key === undefined ? undefined : keyed.get(key);
    if (same !== undefined) {
      if (same !== current) parent.insertBefore(same, current || null);
      morph(same, next);
    } else if (current === undefined) {
      parent.append(next);
    } else if (key !== undefined || (current.dataset !== undefined && current.dataset.key !== undefined)) {
      parent.insertBefore(next, current);
    } else {
      morph(current, next);
    }
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function showConnection(state, text) {
  if (connection === null) return;
  connection.hidden = false;
  connection.className = `connection ${state}`;
  if (connection.textContent !== text) connection.textContent = text;
}

function showUpdate(html) {
  const wanted = new DOMParser().parseFromString(html, "text/html").getElementById("live");
  if (wanted === null) return;
  const active = document.activeElement;
  morph(live, wanted);
  if (active !== null && active.isConnected && document.activeElement !== active) active.focus({ preventScroll: true });
}

async function fetchUpdate(path) {
  if (request !== null) request.abort();
  const own = new AbortController();
  request = own;
  const limit = setTimeout(() => own.abort(), MAX_INTERVAL);
  try {
    const answer = await fetch(path, { signal: own.signal, cache: "no-store", credentials: "same-origin" });
    if (answer.status === 401 || answer.status === 404) {
      location.reload();
      return;
    }
    if (answer.status === 200) showUpdate(await answer.text());
    else if (answer.status !== 204) throw new Error(`status ${answer.status}`);
    failures = 0;
    showConnection("good", "Live");
  } catch {
    if (request !== own) return;
    failures += 1;
    showConnection("lost", "Connection lost, trying again");
  } finally {
    clearTimeout(limit);
    if (request === own) {
      request = null;
      schedulePoll();
    }
  }
}

function schedulePoll() {
  clearTimeout(timer);
  if (live === null || document.hidden) return;
  const interval = Math.min(MAX_INTERVAL, Number(live.dataset.interval) * 2 ** Math.min(failures, 4));
  timer = setTimeout(poll, interval);
}

function poll() {
  const separator = live.dataset.live.endsWith("?") ? "" : "&";
  fetchUpdate(`${live.dataset.live}${separator}version=${encodeURIComponent(live.dataset.version)}`);
}

// Sorting, paging and finding update the same part of the page, and change its address.
function openInPlace(address) {
  const path = live.dataset.live.split("?")[0];
  history.replaceState(null, "", address.pathname + address.search);
  fetchUpdate(path + address.search);
}

if (live !== null) {
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : poll()));
  live.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-live-link]");
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    openInPlace(new URL(link.href));
  });
  live.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.hasAttribute("data-live-form")) return;
    event.preventDefault();
    const address = new URL(form.action);
    address.search = new URLSearchParams(new FormData(form)).toString();
    openInPlace(address);
  });
  showConnection("good", "Live");
  schedulePoll();
}

// What was said once is not said again when the page is reloaded.
if (document.querySelector("[data-message]") !== null) history.replaceState(null, "", location.pathname);

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

// The form shows the parameters that the chosen policy, noise or memory has, with their defaults.
function showParameters(select, fields) {
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
  showParameters(select, fields);
  select.addEventListener("change", () => showParameters(select, fields));
}
