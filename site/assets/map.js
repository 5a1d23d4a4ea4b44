// The pipeline map: a part's panel stays by a click or a widget's stage; an iteration goes on by a press or by itself.
const STEPS = 7, PACE = 4000;
let last;

function keep(panel) {
  if (!panel) return;
  panel.checked = true;
  if (panel.dataset.step) panel.form.dataset.step = panel.dataset.step;
}

function step(map) {
  map.classList.add("ran");
  keep(map.querySelector(`[data-step="${(map.dataset.step ?? 0) % STEPS + 1}"]`));
}

function play(map, button) {
  const stop = () => {
    map.playing = clearInterval(map.playing);
    button.textContent = "Play one iteration";
  };
  if (map.playing) return stop();
  button.textContent = "Stop";
  step(map);
  map.playing = setInterval(() => {
    step(map);
    if (map.dataset.step === `${STEPS}`) stop();
  }, PACE);
}

document.addEventListener("click", (event) => {
  const { target } = event;
  const link = target.closest(".pipeline svg a");
  if (link) {
    event.preventDefault();
    keep(document.getElementById(link.href.baseVal.replace("#map", "see")));
  }
  if (target.matches(".pipeline .step")) step(target.form);
  if (target.matches(".pipeline .play")) play(target.form, target);
});

document.addEventListener("keydown", ({ key, target }) => {
  const map = target.closest(".pipeline");
  if (map && key === "ArrowRight") step(map);
});

addEventListener("drawn", ({ detail: { stage } }) => {
  if (last && stage !== last) keep(document.querySelector(`.pipeline [data-step="${stage}"]`));
  last = stage ?? last;
});
