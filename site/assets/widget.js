// The page's half of a widget: form in, figure out. All thinking happens in Python.
import { draw } from "./figure.js";
import { brought, filter, fresh, knobs, label, moved, set, spoken, stepwise, unread } from "./knobs.js";
import { found, keep, kept, lesson } from "./page.js";
import { enter, fill, measured, say } from "./status.js";

const EVENTS = ["submit", "input", "change", "keydown", "click", "dragover", "drop"];
const JOB = "job-v1";
const SEEDS = 4;  // a press adds
const LONG = 3;  // seconds from which on they are said
const SLOWER = 4;  // times as long as in the build's Python, until a run here has been timed
const TEACHERS = ["embed", "breaks"];  // what an address asks of the page: embed.js has read it
const asked = document.documentElement.dataset;
const MB = (bytes) => (bytes / 1e6).toFixed(1);

customElements.define("rl-widget", class extends HTMLElement {
  connectedCallback() {
    this.figure = this.closest("figure");
    this.name = this.getAttribute("name");
    this.form = this.$("form");
    this.trains = Boolean(this.$(".go"));
    this.shown = JSON.parse(this.dataset.frame);  // `previous` is the frame of the setting just left
    this.of = this.setting;  // the setting of `shown`; "" while that is a part of a run
    this.ourRun = { ...this.shown, of: this.of };  // what our code makes of a setting, beside a reader's
    this.pace = kept(`pace:${this.name}`).pace ?? SLOWER;

    for (const kind of EVENTS) this.addEventListener(kind, this);
    python.listen((news) => (this.code ? this.hearOurs(news) : this.hear(news)));
    python.expect(this.name);

    try {
      localStorage;
    } catch {
      this.$(".job")?.remove();
    }
    this.credit();
    this.figure.querySelector(".change")?.addEventListener("toggle", () => import("./change.js"), { once: true });
    this.$(".export").addEventListener("toggle", async () => (await import("./export.js")).offer(this), { once: true });
    this.unfold("column" in asked);
    this.foresee(this.dataset.seconds);
    this.view(this.$("[name=view]:checked")?.value ?? "0");
    const wanted = new URLSearchParams(location.search);
    for (const name of TEACHERS) wanted.delete(name);
    if (wanted.size) return this.turn(wanted, true);
    this.share();
    if (!this.trains || this.$(".job")) this.ask(true);
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

  get state() {
    return this.figure.dataset.state;
  }

  get setting() {
    return JSON.stringify(knobs(this.form));
  }

  handleEvent(event) {
    this[event.type](event);
  }

  submit(event) {
    event.preventDefault();
  }

  input({ target: control, inputType = "" }) {
    if (control.type === "search") return filter(this.form, control.value);
    if (!control.name) return;  // a value that is being typed
    stepwise(control);
    if (control.form !== this.form) this.view(control.value);
    else if (control.type !== "textarea") this.turned();
    else if (/Paste|Drop/.test(inputType)) this.bring(control);
  }

  async change({ target: control }) {
    if (control.type === "textarea") this.bring(control);
    if (control.type === "text") this.turned(control, (await import("./typed.js")).type(control));
    this.share();
  }

  dragover(event) {
    if (event.target.type === "textarea") event.preventDefault();
  }

  async drop(event) {
    const { target: area, dataTransfer: { files: [file] } } = event;
    if (!file || area.type !== "textarea") return;
    event.preventDefault();
    this.bring(area, await file.slice(0, 2 * area.maxLength).text());
  }

  bring(area, text = area.value) {
    if (text === area.dataset.value && !area.ariaInvalid) return;
    fresh(area, text);
    this.left = undefined;
    this.turned();
  }

  keydown(event) {
    const field = event.target;
    const typing = field.type === "text";
    if (event.key === "Escape") {
      if (this.trains && !typing && this.state === "running") this.stop();
      else label(this.form);
    }
    const step = { ArrowUp: "stepUp", ArrowDown: "stepDown" }[event.key];
    if (typing && step) {
      event.preventDefault();
      this.stepped(field.closest(".knob").querySelector("[type=range]"), step);
    }
  }

  // By the first class: the theme adds one to what the keyboard has reached.
  click({ target: button }) {
    if (button.type === "button") this[button.classList[0]]?.(button);
  }

  // the buttons, each by its class
  go() {
    if (this.state === "running") this.stop();
    else this.ask();
  }

  seed() {
    this.stepped(this.form.elements.seed, "stepUp");
  }

  // The same setting with further seeds.
  seeds() {
    this.ask(false, { more: SEEDS, kept: this.kept?.sample });
  }

  stepped(range, step) {
    stepwise(range);
    range[step]();
    this.turned();
    this.share();
  }

  keep() {
    this.keeps(this.shown);
  }

  reset() {
    this.previous = undefined;
    this.keeps();
    this.ours();
  }

  // Back from a reader's code.
  ours() {
    this.code?.bring(this.code.ours);
  }

  // From now on runs are of `code`, a reader's, or of ours where there is none.
  changed(code) {
    this.code = code;
    this.figure.toggleAttribute("data-code", Boolean(code));
    this.$(".yours").hidden = !code;
    this.share();
    this.ask();
  }

  keeps(run) {
    this.kept = run;
    this.$(".keep").ariaPressed = Boolean(run);
    this.redraw();
  }

  mine({ value }) {
    keep(JOB, { ...JSON.parse(value), from: lesson() });
    this.ask();
  }

  one() {
    this.$(".finds li:not(.on) [data-promise]").click();
  }

  // A setting that breaks, from the list of its cause.
  alike(button) {
    button.closest("[popover]").hidePopover();
  }

  // On a phone one panel of two is in view.
  swipe(button) {
    const panel = button.parentNode;
    const beside = panel.nextElementSibling ?? panel.previousElementSibling;
    beside.querySelector(".swipe").focus({ preventScroll: true });
    beside.scrollIntoView({ block: "nearest", inline: "start" });
  }

  back(button) {
    button.hidden = true;
    this.$(".steps").hidden = false;
    this.$(".steps button").focus();
  }

  answer({ textContent }) {
    this.$(".told b").textContent = textContent;
    this.$(".guess").hidden = true;
    this.guessed = this.spared = this.setting;  // what breaks there was not found by the reader, who has yet to move
  }

  // For those who turned a knob first.
  guess() {
    delete this.figure.dataset.moved;
    this.$(".answer").focus();
  }

  all() {
    this.unfold(!("column" in asked));
    keep("all-knobs", "column" in asked);
  }

  // The column of all other knobs, on every page or on none.
  unfold(open) {
    this.$(".all").ariaExpanded = document.documentElement.toggleAttribute("data-column", open);
  }

  lines(button) {
    button.ariaPressed = this.figure.toggleAttribute("data-lines");
  }

  edit(button) {
    const fold = this.figure.querySelector(".change");
    button.parentNode.hidePopover();
    fold.open = true;
    fold.firstElementChild.focus();
  }

  table() {
    const data = this.$(".data");
    data.hidden = !data.hidden;
    this.$("button.table").ariaExpanded = !data.hidden;
    this.askForTable();
  }

  csv() {
    this.saving = true;
    this.askForTable();
  }

  // `shown`: what is turned is to be seen where it stands; of a tool, its answer is.
  turn(query, shown) {
    const wanted = new URLSearchParams(query);
    const fold = this.figure.querySelector(".change");
    if (fold && wanted.has("change")) {
      this.carried = wanted.get("change");
      wanted.delete("change");
      fold.open = true;
    }
    const before = knobs(this.form);
    this.leave(set(this.form, [...wanted]));
    const now = knobs(this.form);
    const far = this.$$(".rest [data-knob]").find(({ dataset: { knob } }) => now[knob] !== before[knob]);
    if (shown && far && !this.$("[data-answer]")) {
      this.unfold(true);
      this.$(".groups").scrollTop = far.offsetTop;
    }
    this.turned();
    if (JSON.stringify(this.sent) === this.setting) this.share();  // else once Python has read it
  }

  leave(refused) {
    this.left = refused;
    const note = this.$(".note");
    note.textContent = `Left out of the address: ${refused.join("; ")}.`;
    note.hidden = !refused.length;
  }

  turned(field, hint) {
    this.named(field, hint);
    this.ask();
  }

  named(field, hint) {
    label(this.form, field, hint);
    const now = knobs(this.form);
    for (const preset of this.$$("[data-promise]")) {
      const wanted = [...new URLSearchParams(preset.dataset.knobs)];
      preset.ariaPressed = wanted.every(([name, value]) => now[name] === value);
    }
    this.figure.dataset.settings = spoken(this.form);
    const far = this.$$(".rest .moved").length;
    this.$(".far").textContent = far ? `${far} moved` : "";
  }

  // Not while the hand drags: Safari refuses a hundred addresses.
  share() {
    const { origin, pathname, hash } = location;
    const query = new URLSearchParams(moved(this.form));
    const whole = new URLSearchParams(knobs(this.form));
    for (const name of TEACHERS.filter((one) => one in asked)) query.set(name, asked[name]);
    const change = this.code ? this.code.carried : this.carried;
    for (const each of change ? [query, whole] : []) each.set("change", change);
    const page = `${origin}${pathname}`;
    this.$("[data-clipboard-text]").dataset.clipboardText = `${page}?${whole}#${this.figure.id}`;
    this.$(".whole").href = `${page}?${whole}`;
    history.replaceState(history.state, "", `${pathname}${query.size ? `?${query}` : ""}${hash}`);
  }

  // runs: `settled` is undefined while nothing was asked, false until the answer is whole, and true then
  ask(opened, more) {
    this.sent = knobs(this.form, unread);
    this.settled = false;
    if (this.spared !== this.setting) this.spared = "";
    delete this.figure.dataset.spared;
    if (!opened) this.figure.dataset.moved = this.figure.dataset.waits = "";
    this.asked = performance.now();
    const form = { ...this.sent, job: kept(JOB), opened, ...more };
    if (this.code) python.stop();
    if (this.code) this.code.launch(this.name, form);
    else python.run(this.name, JSON.stringify(form));
    if (this.state !== "static" && this.state !== "starting") this.running();
    else this.loading();
  }

  stop() {
    const [step, at, of] = this.shown.progress ?? [];
    python.stop();
    this.code?.stopped();
    this.settled = undefined;
    const words = step ? `stopped at ${step} ${at} of ${of}` : "stopped";
    enter(this, "stopped", words, { button: "Run", cost: "a partial run is shown" });
    this.askForTable();
  }

  // Ours at these knobs, run once a reader's code has ended.
  hearOurs({ frame, done, table }) {
    if (table) this.hear({ table });
    const news = frame && JSON.parse(frame);
    if (news?.panels) this.coming = { ...news, of: this.setting };
    if (!done) return;
    this.ourRun = this.coming;
    this.redraw();
  }

  hear({ loaded, total, ready, failed, error, frame, done, table }) {
    if (failed) this.fail("failed", failed, "not started");
    if (error) this.fail("stopped", error.trim().split("\n").at(-1), "Python stopped", true);
    if (loaded >= 0) this.loading(loaded, total);
    if (ready) this.ready();
    const news = frame && JSON.parse(frame);
    if (news && !news.panels) this.read(news);
    else if (news) {
      if (this.of && this.of !== this.setting) this.previous = this.shown;
      this.of = "";
      this.shown = news;
      delete this.figure.dataset.waits;
      this.running();
      this.redraw();
    }
    if (done) {
      this.settled = true;
      this.of = this.setting;
      if (!this.code) this.ourRun = { ...this.shown, of: this.of };
      else if (this.ourRun.of !== this.of) python.run(this.name, JSON.stringify(this.sent));
      this.rest();
    }
    if (!table) return;
    this.$(".data").innerHTML = table;
    if (this.saving) this.$("[download]").click();
    this.saving = false;
  }

  // What goes before a figure: a job turns knobs; what a reader brought is in force, or refused.
  read({ turn, job, seconds, brought: found = {} }) {
    if (turn) return this.turn(turn);
    this.foresee(seconds);
    const bar = this.$(".job");
    if (job && bar) bar.innerHTML = job;
    const before = this.setting;
    const refused = brought(this.form, found, this.sent);
    if (refused.length && this.left) this.leave([...this.left, ...refused]);
    if (this.setting === before && !refused.length) return;
    this.named();
    this.share();
    if (refused.length && this.of !== this.setting) this.ask();
  }

  // How long a run will take here, of its `seconds` in the build's Python.
  foresee(seconds) {
    if (!seconds) return;
    this.takes = seconds;
    const own = seconds * this.pace;
    this.$(".cost").value = own > LONG ? `A run takes about ${own.toFixed(0)} s` : "";
    if (this.state === "running") this.running();
  }

  // `said` names a sentence that the page holds, with a place for the reason.
  fail(said, why, words, stale) {
    this.settled = undefined;
    delete this.figure.dataset.waits;
    enter(this, "error", words, { button: "Run", stale });
    say(this, { sentence: this.dataset[said].replace("…", () => why) });
  }

  loading(loaded, total) {
    let words = "starting Python";
    if (this.settled === false) words += ", then runs your setting";
    else if (total) words += ` · ${MB(loaded)} of ${MB(total)} MB`;
    enter(this, "starting", words);
  }

  ready() {
    this.asked = performance.now();  // its start is not the run's time
    if (this.settled === false) this.running();
    else this.rest();
  }

  running() {
    const [step, at, of] = this.shown.progress ?? [];
    const begun = this.trains && !("waits" in this.figure.dataset) && step;
    const own = (this.takes ?? 0) * this.pace;  // said until a first step was timed; 0 where nothing is known
    const left = begun && at ? (performance.now() - this.asked) / 1000 * (of / at - 1) : own;
    const how = [begun && `${step} ${at} of ${of}`, left > LONG && `about ${left.toFixed(0)} s left`];
    const said = how.filter(Boolean).join(", ");
    this.$(".now span").textContent = said && `${said[0].toUpperCase()}${said.slice(1)}.`;
    enter(this, "running", "running", { button: "Stop", percent: begun ? (100 * at) / of : 0 });
  }

  rest() {
    const { verdict, progress, met, readouts: [first] } = this.shown;
    const { state, cause } = verdict;
    const took = performance.now() - this.asked;
    const time = this.settled && !this.trains ? ` · ${took.toFixed(0)} ms` : "";
    const cost = this.settled && progress ? `${progress[2]} ${progress[0]}s · ${(took / 1000).toFixed(1)} s` : "";
    if (cost && this.takes && !this.code) {
      this.pace = took / 1000 / this.takes;
      keep(`pace:${this.name}`, { pace: this.pace });
    }
    const button = this.settled ? "Run again" : "Run";
    const heard = this.settled ? `${first.label} ${measured(first)}. ` : "";
    const works = `Works${this.judged === "broken" ? " again" : ""}. `;
    const word = { broken: "Broken. ", worse: "Worse, not broken. " }[state];
    enter(this, ...(word ? [state, state] : ["live", `live${time}`]), { button, cost });
    say(this, { ...verdict, heard, mark: word ?? works });
    const isNew = !Object.values(kept(`found:${this.name}`)).includes(cause);
    const spared = cause && isNew && this.spared === this.setting;
    if (spared) this.figure.dataset.spared = "";
    if (!this.code) this.credit(spared ? "" : cause, this.settled ? met : []);
    this.judged = state;
    if (this.guessed) this.$(".top").dataset.told = "";
    this.askForTable();
  }

  // What was found; on a first visit nothing, and nothing is fetched.
  async credit(cause = "", met = []) {
    if (!cause && !met.includes(true) && !found(this.name) && !found(this.name, "met")) return;
    const own = `${new URLSearchParams(knobs(this.form))}`;  // before a next move
    (await import("./found.js")).show(this, { cause, own, met });
  }

  redraw() {
    const { panels, idle, verdict: { at } } = this.shown;
    for (const knob of this.$$("[data-knob]")) {
      knob.classList.toggle("idle", knob.dataset.knob in idle);
      knob.dataset.idle = idle[knob.dataset.knob] ?? "";
    }
    const [before, name] = this.beside();
    for (const plot of this.$$(".panels:not([hidden]) .plot")) {
      const i = plot.dataset.panel;
      plot.previousElementSibling.innerHTML = panels[i].caption;
      draw(plot, panels[i], before?.panels[i], name, +i === at?.panel && at);
      for (const to of this.$$(`[data-to="${i}"]`)) to.textContent = panels[i].title;
    }
    fill(this, this.shown, before, name === "before" ? "was" : name);
    this.code?.drawn(this.shown, before);
    dispatchEvent(new CustomEvent("drawn", { detail: knobs(this.form) }));
  }

  // What stays in gray, and its word: ours, the run that was kept, the setting just left.
  beside() {
    if (this.code) return [this.ourRun.of === this.setting ? this.ourRun : undefined, "ours"];
    return this.kept ? [this.kept, "kept"] : [this.previous, "before"];
  }

  view(chosen) {
    for (const panels of this.$$("[data-view]")) panels.hidden = panels.dataset.view !== chosen;
    this.redraw();
  }

  askForTable() {
    if (this.saving || !this.$(".data").hidden) python.table(this.name, JSON.stringify(this.shown));
  }
});
