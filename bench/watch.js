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
(function look() {                                                      // once a painted frame
  const widget = document.querySelector("figure.rl-widget");
  if (widget?.querySelector(".plot svg")) note("figure");
  if (widget?.querySelector(".plot .main-svg")) note("plot");
  if (settled.includes(widget?.dataset.state)) note("live");
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
  const waiting = new Set([...widget.querySelectorAll(".panels:not([hidden]) .plot")]), plots = [...waiting];
  const painted = (plot) => () => {
    if (!waiting.delete(plot) || waiting.size) return;
    requestAnimationFrame(() => { times.picture = performance.now() - began; });
  };
  const handlers = plots.map(painted);
  let ran = false;
  const states = new MutationObserver(() => { ran ||= widget.dataset.state === "running"; });
  states.observe(widget, { attributeFilter: ["data-state"] });
  plots.forEach((plot, i) => plot.on("plotly_afterplot", handlers[i]));
  act(widget);
  (function wait() {
    if (widget.dataset.state === "error") return resolve({ error: widget.querySelector(".state").textContent });
    if (times.picture && ran && settled.includes(widget.dataset.state)) {
      states.disconnect();
      plots.forEach((plot, i) => plot.removeListener("plotly_afterplot", handlers[i]));
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
