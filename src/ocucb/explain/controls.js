// The reader's side: buttons, keys, settings, and means that are dragged.

const PROBLEMS = {
  "five arms": [1, 0.8, 0.6, 0.4, 0.2],
  "two arms, close": [0.6, 0.4],
  "one good among eight": [0.9, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
  "many near the best": [1, 0.9, 0.9, 0.9, 0.9, 0.9, 0],
  "a clear winner": [2, 0, 0],
};
const find = (id) => document.getElementById(id);
const state = { means: [...PROBLEMS["five arms"]], seed: 1, race: null, panels: [], playing: false, owed: 0, last: 0 };

function settings() {
  return { eta: Number(find("eta").value), rho: Number(find("rho").value), horizon: Number(find("horizon").value), seed: state.seed };
}

function draw() {
  state.race.runs.forEach((run, k) => state.panels[k].show(run));
  drawRegret(find("regret"), state.race);
  explainChoice(find("why"), find("why-title"), state.race.runs[0]);
  find("play").textContent = state.playing ? "Pause" : "Play";
  find("play").disabled = find("step").disabled = state.race.over;
}

/** Play the race again, with what is set now, up to a round. */
function replayTo(t) {
  state.race = new Race([...state.means], settings()).advance(t);
  if (state.race.over) state.playing = false;
  draw();
}

function buildPanels() {
  find("panels").replaceChildren();
  state.panels = state.race.runs.map((run) => new Panel(run, find("panels"), listenToGrip));
  draw();
}

function begin() {
  state.race = new Race([...state.means], settings());
  buildPanels();
}

function setMean(arm, value) {
  state.means[arm] = Math.round(Math.min(RANGE[1] - 0.5, Math.max(RANGE[0], value)) * 50) / 50;
  replayTo(state.race.t);
}

function listenToGrip(grip, svg, arm) {
  const move = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    setMean(arm, RANGE[0] + ((PANEL.height - PANEL.bottom - point.y) / (PANEL.height - PANEL.top - PANEL.bottom)) * (RANGE[1] - RANGE[0]));
  };
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", move);
  });
  for (const end of ["pointerup", "pointercancel"]) grip.addEventListener(end, () => grip.removeEventListener("pointermove", move));
  grip.addEventListener("keydown", (event) => {
    const change = { ArrowUp: 0.02, ArrowRight: 0.02, ArrowDown: -0.02, ArrowLeft: -0.02, PageUp: 0.2, PageDown: -0.2 }[event.key];
    if (change === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setMean(arm, state.means[arm] + change);
  });
}

/** Advance by as many rounds as the time since the last picture allows. */
function tick(now) {
  if (!state.playing) return;
  const speed = Number(find("speed").value);
  state.owed += speed === 0 ? Math.ceil(state.race.settings.horizon / 120) : (Math.min(now - state.last, 250) / 1000) * speed;
  state.last = now;
  const rounds = Math.floor(state.owed);
  state.owed -= rounds;
  if (rounds > 0) {
    state.race.advance(rounds);
    if (state.race.over) state.playing = false;
    draw();
  }
  requestAnimationFrame(tick);
}

function play(on) {
  state.playing = on && !state.race.over;
  draw();
  if (!state.playing) return;
  state.last = performance.now();
  state.owed = 1;
  requestAnimationFrame(tick);
}

function step() {
  play(false);
  state.race.advance(1);
  draw();
}

for (const name of Object.keys(PROBLEMS)) find("problem").append(new Option(name));
find("play").addEventListener("click", () => play(!state.playing));
find("step").addEventListener("click", step);
find("restart").addEventListener("click", () => { play(false); replayTo(0); });
find("reseed").addEventListener("click", () => { state.seed += 1; replayTo(state.race.t); });
find("horizon").addEventListener("change", () => replayTo(Math.min(state.race.t, settings().horizon)));
find("problem").addEventListener("change", () => { play(false); state.means = [...PROBLEMS[find("problem").value]]; begin(); });
for (const name of ["eta", "rho"]) {
  find(name).addEventListener("input", () => {
    find(`${name}-value`).textContent = Number(find(name).value).toFixed(2);
    replayTo(state.race.t);
  });
}
document.addEventListener("keydown", (event) => {
  if (event.target !== document.body) return;
  if (event.key === " ") { event.preventDefault(); play(!state.playing); }
  if (event.key === "ArrowRight") step();
});
window.addEventListener("resize", buildPanels);
begin();
