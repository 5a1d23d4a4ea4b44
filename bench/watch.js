// What bench/run.py puts into a page: when it shows its first figure, hears from Python, and answers a knob.
window.seen = {};
const Plain = Worker;
// When Python's answer reaches the page, before anything is drawn.
window.Worker = class extends Plain {
  constructor(...words) {
    super(...words);
    this.addEventListener("message", ({ data }) => {
      if (data.frame || Array.isArray(data)) window.answered ??= performance.now();
    });
  }
};
const note = (name) => { window.seen[name] ??= performance.now(); };
const settled = ["live", "worse", "broken"];
const shown = (widget) => [...widget?.querySelectorAll(".panels:not([hidden]) .plot") ?? []];
const isScene = (plot) => plot.querySelector("[data-k]");  // drawn by Python, without Plotly
(function look() {                                                      // once a painted frame
  const widget = document.querySelector("figure.rl-widget");
  if (widget?.querySelector(".plot svg")) note("figure");
  if (settled.includes(widget?.dataset.state)) note("live");
  if (widget?.querySelector(".plot .main-svg") || (widget && seen.live && shown(widget).every(isScene))) note("plot");
  if (window.drawn) note("live");
  if (document.querySelector("path")?.hasAttribute("d") && window.drawn) note("figure");
  requestAnimationFrame(look);
})();
// From an act to the first complete picture after it and, where the act starts a run, to its end.
window.after = (act) => new Promise((resolve) => {
  const widget = document.querySelector("figure.rl-widget"), began = performance.now(), times = {};
  window.answered = undefined;
  if (!widget) {
    const before = window.drawn;
    act();
    return (function wait() {
      if (window.drawn > before) resolve({ answer: answered - began, picture: performance.now() - began });
      else requestAnimationFrame(wait);
    })();
  }
  const waiting = new Set(shown(widget));
  const drawn = new MutationObserver((changes) => {  // each drawing, of a plot or a scene, ends with its description
    for (const { target } of changes) waiting.delete(target);
    if (!waiting.size && !times.picture) requestAnimationFrame(() => { times.picture ??= performance.now() - began; });
  });
  for (const plot of waiting) drawn.observe(plot, { attributeFilter: ["aria-label"] });
  let ran = false;
  const states = new MutationObserver(() => { ran ||= widget.dataset.state === "running"; });
  states.observe(widget, { attributeFilter: ["data-state"] });
  act(widget);
  (function wait() {
    if (widget.dataset.state === "error") return resolve({ error: widget.querySelector(".state").textContent });
    if (times.picture && ran && settled.includes(widget.dataset.state)) {
      states.disconnect();
      drawn.disconnect();
      return resolve({ ...times, answer: answered - began, run: performance.now() - began });
    }
    requestAnimationFrame(wait);
  })();
});
window.knob = () => document.querySelector("figure.rl-widget form input[type=range], body > input[type=range]");
window.turn = (share) => () => {
  const input = window.knob(), [low, high, step] = [+input.min, +input.max, +input.step || 1];
  const steps = Math.round((high - low) / step), to = Math.round(share * steps);
  const now = Math.round((input.value - low) / step);
  input.value = low + step * (to === now ? (to + 1) % (steps + 1) : to);
  input.dispatchEvent(new Event("input", { bubbles: true }));
};
