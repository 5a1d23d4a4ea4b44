// The page's half of a widget: form in, figure out. All thinking happens in Python; the HTML was written at build.
import { draw } from "./figure.js";
import { knobs, label, moved, set, spoken, type } from "./knobs.js";

customElements.define("rl-widget", class extends HTMLElement {
  connectedCallback() {
    [this.figure, this.form, this.trains] = [this.closest("figure"), this.$("form"), !!this.$(".go")];
    [this.shown, this.holding] = [JSON.parse(this.dataset.frame), this.$("[role=status] > :last-child").textContent];
    this.addEventListener("submit", (event) => event.preventDefault());
    this.addEventListener("input", ({ target }) => target.name && (target.form === this.form ? this.turned() : this.view(target.value)));
    this.addEventListener("change", ({ target }) => { if (target.type === "text") this.turned(target, type(target)); this.share(); });
    this.addEventListener("keydown", (event) => this.key(event, event.target));
    this.addEventListener("click", ({ target }) => this.press[target.className]?.call(this, target));
    python.listen((news) => this.hear(news));
    this.view(this.$("[name=view]:checked")?.value ?? "0");        // Firefox remembers which one was
    if (location.search) return this.turn(location.search);
    this.share();
    if (!this.trains) this.ask();
  }
  disconnectedCallback() { python.stop(); }
  $(selector) { return this.querySelector(selector); }
  $$(selector) { return [...this.querySelectorAll(selector)]; }

  // ── knobs ──
  turn(query) {
    const note = set(this.form, [...new URLSearchParams(query)]);
    Object.assign(this.$(".note"), { textContent: note, hidden: !note });
    this.turned();
    this.share();
  }
  turned(field, hint) {
    label(this.form, field, hint);
    const now = knobs(this.form);
    for (const preset of this.$$(".presets button")) preset.ariaPressed = [...new URLSearchParams(preset.dataset.knobs)].every(([name, value]) => now[name] === value);
    this.figure.dataset.settings = spoken(this.form);
    this.ask();
  }
  // The address follows when the hand lets go: Safari refuses a page that rewrites it a hundred times in a drag.
  share() {
    const query = new URLSearchParams(moved(this.form)).toString();
    this.$("[data-clipboard-text]").dataset.clipboardText = `${location.origin}${location.pathname}?${new URLSearchParams(knobs(this.form))}#${this.figure.id}`;     // the theme copies it
    history.replaceState(history.state, "", location.pathname + (query && `?${query}`) + location.hash);
  }
  key(event, target) {
    if (event.key === "Escape") this.trains && target.type !== "text" && this.figure.dataset.state === "running" ? this.press.go.call(this) : label(this.form);
    const step = target.type === "text" && { ArrowUp: "stepUp", ArrowDown: "stepDown" }[event.key];
    if (step) { event.preventDefault(); target.closest(".knob").querySelector("[type=range]")[step](); this.turned(); this.share(); }
  }

  // ── runs: `settled` is undefined while nothing was asked, false until the answer is whole, and true then ──
  ask() {
    if (this.settled) this.previous = this.shown;
    [this.settled, this.asked] = [false, performance.now()];
    python.run(this.getAttribute("name"), JSON.stringify(knobs(this.form)));
    ["static", "starting"].includes(this.figure.dataset.state) ? (this.$(".state").textContent = "starting Python, then runs your setting") : this.running();
  }
  hear({ loaded, total, ready, failed, error, frame, done, table }) {
    if (failed || error) {
      this.settled = undefined;
      this.enter("error", failed ? "not started" : "Python stopped", "Run");
      this.say("", failed ? `Python could not be loaded (${failed}). The recorded figure, its numbers and the text are complete without it. Turn a knob to try again.`
        : `Python stopped: ${error.trim().split("\n").at(-1)}. The figure shows the last good result. Change a knob to start again.`);
    }
    if (loaded >= 0) this.enter("starting", `starting Python${this.settled === false ? ", then runs your setting" : total ? ` · ${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB` : ""}`);
    if (ready) { this.asked = performance.now(); this.settled === false ? this.running() : this.rest(); }      // its start is not the run's time
    if (frame) { this.shown = JSON.parse(frame); this.running(); this.redraw(); }
    if (done) { this.settled = true; this.rest(); }
    if (table) this.$(".data").innerHTML = table;
  }
  running() {
    const [step, at, of] = this.shown.progress ?? [], begun = this.trains && this.figure.dataset.state === "running" && step;
    this.enter("running", begun ? `running · ${step} ${at} of ${of}` : "running", "Stop", "", begun ? (100 * at) / of : 0);
    this.slow = setTimeout(() => (this.$(".state").textContent = "still computing"), 3000);
  }
  rest() {
    const { broken, progress, readouts: [{ label: first, text, unit }] } = this.shown, done = this.settled, took = performance.now() - this.asked;
    this.enter(broken ? "broken" : "live", broken ? "broken" : done && !this.trains ? `live · ${took.toFixed(0)} ms` : "live",
      done ? "Run again" : "Run", done && progress ? `${progress[2]} ${progress[0]}s · ${(took / 1000).toFixed(1)} s` : "");
    this.say(broken ? "Broken. " : "", broken ? `${broken.why} ${broken.mend}` : this.holding, done ? `${`${first} ${text} ${unit}`.trim()}. ` : "");
    this.table();
  }
  enter(state, words, button, cost = "", percent = 0) {
    clearTimeout(this.slow);
    this.figure.dataset.state = state;
    this.$(".state").textContent = words;
    this.$("progress").value = percent;
    if (this.trains && button) [this.$(".go").textContent, this.$(".run output").value] = [button, cost];
  }
  // The one polite announcement, made when a run has settled: the first number (heard only), then the verdict.
  say(mark, sentence, heard = "") { this.$$("[role=status] > *").forEach((part, i) => (part.textContent = [heard, mark, sentence][i])); }

  redraw() {
    const { panels, readouts, watched, hash } = this.shown;
    for (const plot of this.$$(".panels:not([hidden]) .plot")) draw(plot, panels[plot.dataset.panel], this.previous?.panels[plot.dataset.panel]);
    this.$$(".readouts > div").forEach((row, i) => {
      const { text, state } = readouts[i], was = this.previous?.readouts[i].text;
      row.className = state;
      row.querySelector("b").textContent = text;
      row.querySelector(".was").textContent = was && was !== text ? `was ${was}` : "";
    });
    this.$(".brk output").value = `${watched.text} ${watched.unit}`.trim();
    this.$(".hash").textContent = `reproducible: ${hash}`;
    dispatchEvent(new CustomEvent("drawn", { detail: knobs(this.form) }));
  }
  view(chosen) { for (const panels of this.$$(".panels")) panels.hidden = panels.dataset.view !== chosen; this.redraw(); }
  table() { if (!this.$(".data").hidden) python.table(this.getAttribute("name"), JSON.stringify(this.shown)); }

  press = {
    go() {
      if (this.figure.dataset.state !== "running") return this.ask();
      const [step, at, of] = this.shown.progress;
      python.stop();
      this.settled = undefined;
      this.enter("stopped", `stopped at ${step} ${at} of ${of}`, "Run", "a partial run is shown");
      this.table();
    },
    seed() { this.form.elements.seed.stepUp(); this.turned(); this.share(); },
    reset() { this.previous = undefined; this.redraw(); },
    table(button) { button.ariaExpanded = !(this.$(".data").hidden = !this.$(".data").hidden); this.table(); },
  };
});

// Anything on the page with data-knobs turns them: a preset, the way back to a default, a link in the prose (whose numbers hold from the default, wherever the reader was).
document.addEventListener("click", (event) => {
  const turner = event.target.closest?.("[data-knobs]"), widget = turner?.closest("rl-widget") ?? document.querySelector("rl-widget");
  if (!turner) return;
  event.preventDefault();
  if (turner.tagName === "A") {                     // the theme would swap the page on the first in-page link
    event.stopPropagation();
    widget.form.reset();
    const { top, bottom } = widget.figure.getBoundingClientRect();
    if (top + bottom < 0 || top + bottom > 2 * innerHeight) widget.figure.scrollIntoView({ block: "center" });
  }
  widget.turn(turner.dataset.knobs);
}, { capture: true });
