// What a race looks like: a panel per policy, the curves of regret, and the reason for the next choice of OCUCB-n.

const SVG = "http://www.w3.org/2000/svg";
const PANEL = { height: 276, left: 32, right: 8, top: 12, bottom: 44 };
const CURVES = { height: 260, left: 44, right: 84, top: 12, bottom: 30 };
const RANGE = [-1, 3]; // of the panels' axis; a bound above it runs out at the top

const armName = (arm) => String.fromCharCode(65 + arm);
const short = (value, digits = 2) => (Number.isFinite(value) ? value.toFixed(digits).replace("-", "−") : "∞");

function make(tag, attributes = {}, parent = null, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

const panelY = (value) => {
  const share = (Math.min(RANGE[1], Math.max(RANGE[0], value)) - RANGE[0]) / (RANGE[1] - RANGE[0]);
  return PANEL.height - PANEL.bottom - share * (PANEL.height - PANEL.top - PANEL.bottom);
};

/** The width of a picture on the page, so that letters have their size, however narrow that is. A window that is not shown yet has none. */
function widthOf(svg) {
  return Math.max(svg.clientWidth, 200);
}

/** A panel: built once for a number of arms and a width, then moved in every round. */
class Panel {
  constructor(run, parent, onDrag) {
    this.policy = run.policy;
    this.card = document.createElement("section");
    this.card.className = `card panel ${run.policy}`;
    this.card.innerHTML = `<div class="title"><h2></h2><span class="soft"></span><span class="right"></span></div>`;
    this.card.querySelector("h2").textContent = POLICIES[run.policy].name;
    this.card.querySelector(".soft").textContent = POLICIES[run.policy].note;
    this.svg = make("svg", { class: "arms", role: "group", "aria-label": `${POLICIES[run.policy].name}: arms` });
    this.card.append(this.svg);
    parent.append(this.card);
    this.width = widthOf(this.svg);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${PANEL.height}`);
    const end = this.width - PANEL.right;
    for (let value = RANGE[0]; value <= RANGE[1]; value++) {
      make("line", { class: "axis", x1: PANEL.left, x2: end, y1: panelY(value), y2: panelY(value) }, this.svg);
      make("text", { x: PANEL.left - 6, y: panelY(value) + 4, "text-anchor": "end" }, this.svg, String(value).replace("-", "−"));
    }
    make("text", { x: PANEL.left - 4, y: PANEL.height - PANEL.bottom + 30, "text-anchor": "end", class: "small" }, this.svg, "pulls");
    this.best = make("line", { class: "best", x1: PANEL.left, x2: end }, this.svg);
    this.arms = run.means.map((_, arm) => this.makeArm(arm, run.means.length, onDrag));
  }

  makeArm(arm, arms, onDrag) {
    const column = (this.width - PANEL.left - PANEL.right) / arms;
    const x = PANEL.left + (arm + 0.5) * column;
    const half = Math.min(16, column / 2 - 3);
    const group = make("g", { class: "arm" }, this.svg);
    const parts = {
      group,
      bound: make("line", { class: "bound", x1: x, x2: x }, group),
      top: make("line", { class: "top", x1: x - half * 0.6, x2: x + half * 0.6 }, group),
      truth: make("line", { class: "truth", x1: x - half, x2: x + half }, group),
      estimate: make("circle", { class: "estimate", cx: x, r: 5 }, group),
      pulls: make("text", { x, y: PANEL.height - PANEL.bottom + 30, "text-anchor": "middle", class: "pulls" }, group),
      grip: make("rect", { class: "grip", x: x - half - 3, width: 2 * half + 6, height: 24, rx: 4, tabindex: 0, role: "slider",
        "aria-orientation": "vertical", "aria-valuemin": RANGE[0], "aria-valuemax": RANGE[1] - 0.5,
        "aria-label": `True mean of arm ${armName(arm)}` }, group),
    };
    make("text", { x, y: PANEL.height - PANEL.bottom + 16, "text-anchor": "middle", class: "label" }, group, armName(arm));
    onDrag(parts.grip, this.svg, arm);
    return parts;
  }

  show(run) {
    const next = run.next();
    this.card.querySelector(".right").textContent = `regret ${short(run.regret[run.t], 1)}`;
    this.best.setAttribute("y1", panelY(run.best));
    this.best.setAttribute("y2", panelY(run.best));
    this.arms.forEach((parts, arm) => {
      const seen = run.pulls[arm] > 0;
      const index = run.index(arm);
      const y = { truth: panelY(run.means[arm]), mean: seen ? panelY(run.mean(arm)) : panelY(0), index: panelY(index) };
      parts.group.classList.toggle("chosen", arm === next);
      for (const [line, from, to] of [["bound", y.mean, y.index], ["top", y.index, y.index], ["truth", y.truth, y.truth]]) {
        parts[line].setAttribute("y1", from);
        parts[line].setAttribute("y2", to);
      }
      parts.top.style.visibility = index > RANGE[1] ? "hidden" : "visible";
      parts.estimate.setAttribute("cy", y.mean);
      parts.estimate.style.visibility = seen ? "visible" : "hidden";
      parts.pulls.textContent = run.pulls[arm];
      parts.grip.setAttribute("y", y.truth - 12);
      parts.grip.setAttribute("aria-valuenow", run.means[arm].toFixed(2));
    });
  }
}

/** Some places of a curve, enough for the width of the picture. */
function places(t, most = 400) {
  const step = Math.max(1, Math.ceil(t / most));
  const found = [];
  for (let place = 0; place < t; place += step) found.push(place);
  return [...found, t];
}

function niceStep(most) {
  const unit = 10 ** Math.floor(Math.log10(most / 4));
  return [1, 2, 5, 10].map((k) => k * unit).find((step) => most / step <= 5);
}

function drawRegret(svg, race) {
  const { height, left, right, top, bottom } = CURVES;
  const width = widthOf(svg);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  const horizon = race.settings.horizon;
  const most = Math.max(10, ...race.runs.map((run) => run.regret[run.t])) * 1.05;
  const x = (t) => left + (t / horizon) * (width - left - right);
  const y = (value) => height - bottom - (value / most) * (height - top - bottom);
  for (let value = 0, step = niceStep(most); value <= most; value += step) {
    make("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }, svg);
    make("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, svg, value.toLocaleString("en"));
  }
  for (const t of width < 500 ? [0, horizon / 2, horizon] : [0, horizon / 4, horizon / 2, (3 * horizon) / 4, horizon]) {
    make("text", { x: x(t), y: height - bottom + 18, "text-anchor": "middle" }, svg, t.toLocaleString("en"));
  }
  const ends = race.runs.map((run) => ({ run, y: y(run.regret[run.t]) })).sort((a, b) => a.y - b.y);
  ends.forEach((end, k) => { if (k > 0) end.y = Math.max(end.y, ends[k - 1].y + 15); });
  ends.forEach((end, k) => { end.y = Math.min(end.y, height - bottom - 8 - 15 * (ends.length - 1 - k)); });
  for (const end of ends) {
    const { run } = end;
    const path = places(run.t).map((t) => `${x(t).toFixed(1)},${y(run.regret[t]).toFixed(1)}`);
    make("polyline", { class: `curve ${run.policy}`, points: path.join(" ") }, svg);
    make("text", { class: `name ${run.policy}`, x: x(run.t) + 6, y: end.y + 4 }, svg, POLICIES[run.policy].name);
  }
}

/** The next choice of OCUCB-n in numbers. */
function explainChoice(target, title, run) {
  const t = run.t + 1;
  const { eta, rho } = run.settings;
  const next = run.next();
  const over = t > run.settings.horizon;
  title.textContent = over ? `Why would arm ${armName(next)} be next?` : `Why arm ${armName(next)} in round ${t.toLocaleString("en")}?`;
  if (run.pulls[next] === 0) {
    target.innerHTML = `<p>Every arm is tried once: its bound is infinite before that.</p>`;
    return;
  }
  const rows = run.means.map((_, arm) => {
    const seen = run.pulls[arm] > 0;
    const cells = [run.pulls[arm].toLocaleString("en"), seen ? short(effectiveArms(arm, run.pulls, rho), 1) : "–",
      seen ? short(run.mean(arm)) : "–", short(run.index(arm))];
    const name = `<th scope="row">${armName(arm)}</th>`;
    return `<tr class="${arm === next ? "chosen" : ""}">${name}${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const width = run.index(next) - run.mean(next);
  const k = effectiveArms(next, run.pulls, rho);
  target.innerHTML = `<p>OCUCB-n finds its bound highest: ${short(run.mean(next))} + ${short(width)} = <b>${short(run.index(next))}</b>.
    The width is √(2L/T) with L = η log max{e, log t, t log t/(T k)}, η = ${eta.toFixed(2)}; k = ${short(k, 1)} arms have been pulled about as often as
    ${armName(next)}, or more.</p>
    <table><thead><tr><th scope="col">arm</th><th scope="col">pulls T</th><th scope="col">effective arms k</th><th scope="col">mean</th>
    <th scope="col">bound</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}
