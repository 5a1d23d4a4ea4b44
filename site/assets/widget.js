// The page's half of a widget: form in, figure out. All thinking happens in Python; the HTML was written at build.
import { draw, follow } from "./figure.js";
import { knobs, label, moved, set, spoken, type } from "./knobs.js";
import { ask, listen, stop } from "./python.js";

const left = new Map();                             // a widget's last knobs, kept while the theme swaps pages

customElements.define("rl-widget", class extends HTMLElement {
  connectedCallback() {
    this.figure = this.closest("figure");
    this.form = this.$("form");
    this.trains = !!this.$(".go");
    this.holding = this.$("[role=status] > :last-child").textContent;
    this.shown = JSON.parse(this.dataset.frame);
    this.addEventListener("submit", (event) => event.preventDefault());
    this.addEventListener("input", ({ target }) => target.name && this.turned());
    this.addEventListener("change", ({ target }) => { if (target.type === "text") this.turned(target, type(target)); this.share(); });
    this.addEventListener("keydown", (event) => this.key(event, event.target));
    this.addEventListener("click", ({ target }) => this.press[target.className]?.call(this, target) ?? (target.role === "tab" && this.tab(target)));
    this.ends = [follow(() => this.redraw()), listen((news) => this.hear(news))];
    this.redraw();
    const asked = left.get(this.figure.id) ?? location.search.slice(1);
    if (asked) this.turn(asked); else label(this.form);
    if (!asked && !this.trains) this.ask();
  }
  disconnectedCallback() { for (const end of this.ends) end(); }
  $(selector) { return this.querySelector(selector); }
  $$(selector) { return [...this.querySelectorAll(selector)]; }
  get state() { return this.figure.dataset.state; }
  enter(state, words, button, cost = "") {
    clearTimeout(this.slow);
    this.figure.dataset.state = state;
    this.$(".state").textContent = words;
    if (this.trains && button) [this.$(".go").textContent, this.$(".run output").value] = [button, cost];
  }

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
    left.set(this.figure.id, new URLSearchParams(moved(this.form)).toString());
    this.ask();
  }
  // The address follows when the hand lets go: Safari refuses a page that rewrites it a hundred times in a drag.
  share() {
    const query = left.get(this.figure.id);
    history.replaceState(history.state, "", location.pathname + (query && `?${query}`) + location.hash);
  }
  key(event, target) {
    if (event.key === "Escape") target.type !== "text" && this.state === "running" ? this.press.go.call(this) : label(this.form);
    const step = target.type === "text" && { ArrowUp: "stepUp", ArrowDown: "stepDown" }[event.key];
    if (step) { event.preventDefault(); target.closest(".knob").querySelector("[type=range]")[step](); this.turned(); this.share(); }
    const tabs = this.$$("[role=tab]"), at = tabs.indexOf(target), to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (at >= 0 && to !== undefined) { event.preventDefault(); this.tab(tabs.at(to % tabs.length)); }
  }

  // ── runs ──
  ask() {
    if (this.settled) this.previous = this.shown;
    this.settled = false;
    this.asked = performance.now();
    this.run = ask(this.getAttribute("name"), JSON.stringify(knobs(this.form)));
    ["static", "starting"].includes(this.state) ? (this.$(".state").textContent = "starting Python, then runs your setting") : this.running();
  }
  hear({ loaded, total, ready, failed, frame, done, error }) {
    if (failed || error) {
      this.run = undefined;
      this.enter("error", failed ? "not started" : "Python stopped", "Run");
      return this.say("", failed ? `Python could not be loaded (${failed}). The recorded figure, its numbers and the text are complete without it. Turn a knob to try again.`
        : `Python stopped: ${error.trim().split("\n").at(-1)}. The figure shows the last good result. Change a knob to start again.`);
    }
    if (loaded && !this.run) this.enter("starting", `starting Python · ${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB`);
    else if (loaded) this.figure.dataset.state = "starting";
    if (ready) { this.asked = performance.now(); this.run && !this.settled ? this.running() : this.rest(); }      // its start is not the run's time
    if (frame) { this.shown = JSON.parse(frame); this.running(); this.redraw(); }
    if (done) { this.settled = true; this.rest(); }
  }
  running() {
    const [step, at, of] = this.shown.progress ?? [], begun = this.trains && this.state === "running" && step;
    this.enter("running", begun ? `running · ${step} ${at} of ${of}` : "running", "Stop");
    this.bar(begun ? (100 * at) / of : 0);
    this.slow = setTimeout(() => (this.$(".state").textContent = "still computing"), 3000);
  }
  rest() {
    const { broken, progress } = this.shown, took = performance.now() - this.asked;
    this.enter(broken ? "broken" : "live", broken ? "broken" : this.settled && !this.trains ? `live · ${took.toFixed(0)} ms` : "live",
      this.settled ? "Run again" : "Run", this.settled && progress ? `${progress[2]} ${progress[0]}s · ${(took / 1000).toFixed(1)} s` : "");
    this.bar(0);
    const [{ text, unit, label: first }] = this.shown.readouts;
    this.say(broken ? "Broken. " : "", broken ? `${broken.why} ${broken.mend}` : this.holding, this.settled ? `${`${first} ${text} ${unit}`.trim()}. ` : "");
  }
  bar(percent) { this.$(".bar i").style.width = `${percent}%`; this.$(".bar").ariaValueNow = percent.toFixed(0); }
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
    if (!this.$(".data").hidden) this.table();
  }
  tab(chosen) {
    for (const tab of this.$$("[role=tab]")) {
      tab.ariaSelected = tab === chosen;
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    chosen.focus();
    this.redraw();
  }

  // ── the foot ──
  press = {
    go() {
      if (this.state !== "running") return this.ask();
      stop();
      this.run = undefined;
      const [step, at, of] = this.shown.progress;
      this.enter("stopped", `stopped at ${step} ${at} of ${of}`, "Run", "a partial run is shown");
    },
    seed() { this.form.elements.seed.stepUp(); this.turned(); this.share(); },
    reset() { this.previous = undefined; this.settled = false; this.redraw(); },
    link(button) { said(button, navigator.clipboard.writeText(`${location.origin}${location.pathname}?${new URLSearchParams(knobs(this.form))}#${this.figure.id}`)); },
    table(button) { button.ariaExpanded = !(this.$(".data").hidden = !this.$(".data").hidden); this.table(); },
    csv() {
      const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
      const href = URL.createObjectURL(new Blob([[this.$$(".data th").map((cell) => cell.textContent), ...this.rows].map((row) => row.map(quoted).join(",")).join("\n")], { type: "text/csv" }));
      Object.assign(document.createElement("a"), { href, download: `${this.figure.id}.csv` }).click();
    },
  };
  // Every point of every curve, and at most about thirty of each in the table.
  get curves() { return this.shown.panels.flatMap(({ title, data }) => data.map(({ x, y, z, name = "" }) => (z ? z.flatMap((row, i) => row.map((v, j) => [x[j], y[i], v])) : x.map((at, i) => [at, y[i]]).filter(([at]) => at !== null))
    .map(([at, ...rest]) => [title, name, String(at), rest.join(": ")]))); }
  get rows() { return this.curves.flat(); }
  table() {
    const few = this.curves.flatMap((rows) => rows.filter((_, i) => i % ((rows.length / 30 | 0) + 1) === 0));
    this.$(".data tbody").replaceChildren(...few.map((cells) => { const row = document.createElement("tr"); for (const cell of cells) row.insertCell().textContent = cell; return row; }));
  }
});

// A button says for two seconds what became of its copy.
export async function said(button, copied) {
  const words = button.textContent;
  button.textContent = await copied.then(() => "Copied", () => "Not allowed");
  setTimeout(() => (button.textContent = words), 2000);
}

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
