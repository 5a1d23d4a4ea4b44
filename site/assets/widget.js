// The page's half of a widget: form in, figure out. All thinking happens in Python; the HTML was written at build.
import { draw } from "./figure.js";
import { knobs, label, moved, set, spoken, type } from "./knobs.js";
import { caption, enter, fill, measured, say } from "./status.js";

const MB = (bytes) => (bytes / 1e6).toFixed(1);

customElements.define("rl-widget", class extends HTMLElement {
  connectedCallback() {
    this.figure = this.closest("figure");
    this.form = this.$("form");
    this.trains = Boolean(this.$(".go"));
    this.shown = JSON.parse(this.dataset.frame);    // `previous` is the frame of the setting just left
    this.of = JSON.stringify(knobs(this.form));     // the setting of `shown`; "" while that is a part of a run
    this.holding = this.$("[role=status] > :last-child").textContent;

    this.addEventListener("submit", (event) => event.preventDefault());
    this.addEventListener("input", ({ target }) => this.input(target));
    this.addEventListener("change", ({ target }) => this.change(target));
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", ({ target }) => this.press(target));
    python.listen((news) => this.hear(news));

    this.view(this.$("[name=view]:checked")?.value ?? "0");        // Firefox remembers which one was
    if (location.search) return this.turn(location.search);
    this.share();
    if (!this.trains) this.ask();
  }

  disconnectedCallback() {
    python.stop();
  }

  $(selector) {
    return this.querySelector(selector);
  }

  $$(selector) {
    return [...this.querySelectorAll(selector)];
  }

  get name() {
    return this.getAttribute("name");
  }

  get state() {
    return this.figure.dataset.state;
  }

  // ── what the reader does ──
  input(control) {
    if (!control.name) return;                      // a value that is being typed
    if (control.form === this.form) this.turned();
    else this.view(control.value);
  }

  change(control) {
    if (control.type === "text") this.turned(control, type(control));
    this.share();
  }

  key(event) {
    const field = event.target;
    const typing = field.type === "text";
    if (event.key === "Escape") {
      if (this.trains && !typing && this.state === "running") this.stop();
      else label(this.form);
    }
    const step = { ArrowUp: "stepUp", ArrowDown: "stepDown" }[event.key];
    if (typing && step) {
      event.preventDefault();
      field.closest(".knob").querySelector("[type=range]")[step]();
      this.turned();
      this.share();
    }
  }

  press({ className }) {
    if (className === "go" && this.state === "running") this.stop();
    else if (className === "go") this.ask();
    if (className === "seed") this.reseed();
    if (className === "reset") this.forget();
    if (className === "table") this.toggleTable();
  }

  reseed() {
    this.form.elements.seed.stepUp();
    this.turned();
    this.share();
  }

  forget() {
    this.previous = undefined;
    this.redraw();
  }

  // ── knobs ──
  turn(query) {
    const refused = set(this.form, [...new URLSearchParams(query)]);
    const note = this.$(".note");
    note.textContent = refused;
    note.hidden = !refused;
    this.turned();
    this.share();
  }

  turned(field, hint) {
    label(this.form, field, hint);
    const now = knobs(this.form);
    for (const preset of this.$$(".presets button")) {
      const wanted = [...new URLSearchParams(preset.dataset.knobs)];
      preset.ariaPressed = wanted.every(([name, value]) => now[name] === value);
    }
    this.figure.dataset.settings = spoken(this.form);
    this.ask();
  }

  // The address follows when the hand lets go: Safari refuses a page that rewrites it a hundred times in a drag.
  share() {
    const here = location.pathname;
    const query = new URLSearchParams(moved(this.form)).toString();
    const whole = new URLSearchParams(knobs(this.form));
    const link = this.$("[data-clipboard-text]");   // the theme copies it
    link.dataset.clipboardText = `${location.origin}${here}?${whole}#${this.figure.id}`;
    history.replaceState(history.state, "", here + (query && `?${query}`) + location.hash);
  }

  // ── runs: `settled` is undefined while nothing was asked, false until the answer is whole, and true then ──
  ask() {
    const setting = JSON.stringify(knobs(this.form));
    if (this.of && this.of !== setting) this.previous = this.shown;
    this.of = "";
    this.settled = false;
    this.asked = performance.now();
    python.run(this.name, setting);
    if (this.state !== "static" && this.state !== "starting") this.running();
    else this.$(".state").textContent = "starting Python, then runs your setting";
  }

  stop() {
    const [step, at, of] = this.shown.progress;
    python.stop();
    this.settled = undefined;
    enter(this, "stopped", `stopped at ${step} ${at} of ${of}`, { button: "Run", cost: "a partial run is shown" });
    this.askForTable();
  }

  hear({ loaded, total, ready, failed, error, frame, done, table }) {
    if (failed) this.failed(failed);
    if (error) this.broke(error);
    if (loaded >= 0) this.loading(loaded, total);
    if (ready) this.ready();
    if (frame) {
      this.shown = JSON.parse(frame);
      this.running();
      this.redraw();
    }
    if (done) {
      this.settled = true;
      this.of = JSON.stringify(knobs(this.form));
      this.rest();
    }
    if (table) this.$(".data").innerHTML = table;
  }

  failed(why) {
    this.settled = undefined;
    enter(this, "error", "not started", { button: "Run" });
    const sentence = `Python could not be loaded (${why}). The recorded figure, its numbers and the text are complete`
      + " without it. Turn a knob to try again.";
    say(this, { sentence });
  }

  broke(error) {
    this.settled = undefined;
    enter(this, "error", "Python stopped", { button: "Run", stale: true });
    const why = error.trim().split("\n").at(-1);
    const sentence = `Python stopped: ${why}. The figure shows the last good result. Change a knob to start again.`;
    say(this, { sentence });
  }

  loading(loaded, total) {
    let words = "starting Python";
    if (this.settled === false) words += ", then runs your setting";
    else if (total) words += ` · ${MB(loaded)} of ${MB(total)} MB`;
    enter(this, "starting", words);
  }

  ready() {
    this.asked = performance.now();                 // its start is not the run's time
    if (this.settled === false) this.running();
    else this.rest();
  }

  running() {
    const [step, at, of] = this.shown.progress ?? [];
    const begun = this.trains && this.state === "running" && step;
    const words = begun ? `running · ${step} ${at} of ${of}` : "running";
    enter(this, "running", words, { button: "Stop", percent: begun ? (100 * at) / of : 0 });
  }

  rest() {
    const { broken, progress, readouts: [first] } = this.shown;
    const took = performance.now() - this.asked;
    const time = this.settled && !this.trains ? ` · ${took.toFixed(0)} ms` : "";
    const cost = this.settled && progress ? `${progress[2]} ${progress[0]}s · ${(took / 1000).toFixed(1)} s` : "";
    const button = this.settled ? "Run again" : "Run";
    const heard = this.settled ? `${first.label} ${measured(first)}. ` : "";
    if (broken) {
      enter(this, "broken", "broken", { button, cost });
      say(this, { heard, mark: "Broken. ", sentence: `${broken.why} It holds with ${broken.mend}` });
    } else {
      enter(this, "live", `live${time}`, { button, cost });
      say(this, { heard, sentence: this.holding });
    }
    this.askForTable();
  }

  // ── what is shown ──
  redraw() {
    const { panels } = this.shown;
    for (const plot of this.$$(".panels:not([hidden]) .plot")) {
      const i = plot.dataset.panel;
      caption(plot, panels[i]);
      draw(plot, panels[i], this.previous?.panels[i]);
    }
    fill(this, this.shown, this.previous);
    dispatchEvent(new CustomEvent("drawn", { detail: knobs(this.form) }));
  }

  view(chosen) {
    for (const panels of this.$$(".panels")) panels.hidden = panels.dataset.view !== chosen;
    this.redraw();
  }

  toggleTable() {
    const data = this.$(".data");
    data.hidden = !data.hidden;
    this.$("button.table").ariaExpanded = !data.hidden;
    this.askForTable();
  }

  askForTable() {
    if (!this.$(".data").hidden) python.table(this.name, JSON.stringify(this.shown));
  }
});
