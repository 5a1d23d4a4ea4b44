// A log of a run, handed to Python piece by piece, and what Python says of it. This page alone loads it.
import { draw } from "./figure.js";

const SIZE = 1 << 18;  // bytes of a piece
const SILENCE = 60000;  // milliseconds after which a piece is given up
const harmless = (_, leaf) => (typeof leaf === "string" ? leaf.replaceAll("<", "‹") : leaf);  // for Plotly
const mega = (bytes) => (bytes / 1e6).toFixed(1);

let worker;
const python = () => (worker ??= globalThis.interpreter(import.meta.url, "doctor", SILENCE));

customElements.define("run-doctor", class extends HTMLElement {
  connectedCallback() {
    this.form = this.$("form");
    this.turn = 0;
    this.form.onsubmit = () => false;
    this.form.onchange = ({ target }) => this.changed(target);
    this.form.onreset = () => setTimeout(() => this.again());
    this.$(".paste").onclick = () => this.take([new File([this.form.text.value], "pasted text")]);
    this.$(".stop").onclick = () => this.stop();
    this.ondragover = (event) => event.preventDefault();
    this.ondrop = (event) => {
      event.preventDefault();
      this.take([...event.dataTransfer.files]);
    };
    this.theme = new MutationObserver(() => this.redraw());
    this.theme.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  disconnectedCallback() {
    this.turn += 1;
    this.theme.disconnect();
  }

  $(selector) {
    return this.querySelector(selector);
  }

  changed({ name, files, value, dataset }) {
    if (name === "files" && files.length) this.take([...files]);
    else if (name === "sample" && value) this.sample(value);
    else if (name === "run") this.take(this.files);
    else if (name === "held_out" || name === "k" || name === "updates" || dataset.threshold === "" || dataset.map) {
      this.again();
    }
  }

  enter(state, said) {
    this.dataset.state = state;
    this.$(".reading").hidden = state !== "reading";
    if (said !== undefined) this.$(".verdict").textContent = said;
  }

  // What the reader has set; a column that was named for another log is named no more.
  asked() {
    const form = new FormData(this.form);
    const values = (selector, key) =>
      Object.fromEntries([...this.querySelectorAll(selector)].map((one) => [key(one), one.value]));
    const mapped = values("[data-map]", (one) => one.dataset.map);
    for (const name of Object.keys(mapped)) if (!mapped[name]) delete mapped[name];
    const thresholds = values("[data-threshold]", (one) => one.name);
    const { held_out, k, updates, run } = Object.fromEntries(form);
    return { held_out, k, updates, run, mapped, thresholds };
  }

  // One step of the conversation: resolves with Python's answer.
  say(what, data = "") {
    return new Promise((resolve, reject) => {
      let answer;
      python().listen(({ frame, done, failed, error }) => {
        if (frame) answer = frame;
        if (done) resolve(JSON.parse(answer, harmless));
        const why = failed ?? error;
        if (why) reject(new Error(this.dataset[failed ? "failed" : "error"].replace("…", () => why)));
      });
      python().run(what, data);
    });
  }

  // Without a format, the log that the page shows recorded, under what the reader has set.
  async sample(format) {
    await this.safely(async () => {
      this.wait();
      const { files } = await this.say("sample", format);
      return this.read(Object.entries(files).map(([name, text]) => new File([text], name)), !format);
    });
  }

  async take(files) {
    if (files?.length) await this.safely(() => this.read(files));
  }

  async again() {
    if (this.dataset.state === "static") return this.sample("");
    if (this.log) await this.safely(async () => this.show(await this.say("ask", JSON.stringify(this.asked()))));
  }

  stop() {
    this.turn += 1;
    this.enter("stopped", "Stopped.");
  }

  async safely(steps) {
    const turn = (this.turn += 1);
    this.here = () => turn === this.turn;
    try {
      await steps();
    } catch (fault) {
      if (turn !== this.turn) return;
      this.log = false;  // what was read went with the worker
      this.enter("stopped", fault.message);
    }
  }

  async read(files, keep) {
    const here = this.here;
    const total = files.reduce((sum, { size }) => sum + size, 0);
    this.files = files;
    this.log = false;
    if (total > this.dataset.limit * 1e6) return this.enter("refused", this.dataset.large.replace("…", mega(total)));
    for (const one of keep ? [] : this.querySelectorAll("[data-map], [name=held_out]")) one.value = "";
    this.wait();
    let past = 0;
    await this.say("begin", JSON.stringify(this.asked()));
    for (const file of files) {
      let answer = await this.say("file", file.name);
      for (let at = 0; at < file.size && !answer.refused; at += SIZE) {
        this.progress(past + at, total);
        answer = await this.say("piece", new Uint8Array(await file.slice(at, at + SIZE).arrayBuffer()));
        if (!here()) return;
      }
      if (answer.refused) return this.show(answer);
      past += file.size;
    }
    const ended = await this.say("end");
    if (!here()) return;
    this.log = !ended.refused;
    this.show(ended.refused ? ended : await this.say("ask", JSON.stringify(this.asked())));
  }

  // Until the first piece is read, which is after Python has started.
  wait() {
    this.$("progress").removeAttribute("value");
    this.$(".reading span").textContent = "Python starts";
    this.enter("reading", "Reading.");
  }

  progress(read, total) {
    this.$("progress").value = read / total;
    this.$(".reading span").textContent = `${mega(read)} of ${mega(total)} MB`;
  }

  show(answer) {
    if (answer.columns?.length) this.offer(answer);
    if (answer.refused) return this.enter("refused", answer.refused);
    this.enter(answer.first ? "fired" : "quiet", answer.said);
    this.$(".whose").textContent = answer.whose;
    answer.tests.forEach(({ state, value, rows }, i) => {
      const row = this.querySelectorAll(".tables tbody tr")[i];
      row.dataset.state = state;
      [state, value, rows].forEach((text, n) => (row.cells[n + 1].textContent = text));
    });
    const links = this.querySelectorAll(".tables tbody tr")[answer.first - 1]?.cells[4].childNodes ?? [];
    this.$(".next").replaceChildren(...[...links].map((link) => link.cloneNode(true)));
    if (answer.first) this.$(".next").prepend("Read on: ");
    this.list(".alarms", answer.alarms);
    this.list(".notes", answer.notes);
    const body = this.$(".read tbody");
    body.replaceChildren();
    for (const { words, columns, note } of answer.read) {
      const row = body.insertRow();
      for (const text of [words, columns, note]) row.insertCell().textContent = text;
    }
    this.panels = answer.panels;
    this.redraw();
  }

  list(selector, texts) {
    this.$(selector).replaceChildren(...texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  }

  // The columns of this log, where one is to be named.
  offer({ columns, candidates = [], used = {} }) {
    const held = this.$("[name=held_out]");
    this.fill(held, [...new Set([...candidates, ...columns])], held.options[0].text);
    for (const one of this.querySelectorAll("[data-map]")) {
      const read = used[one.dataset.map]?.join(" and ") ?? "not in the log";
      this.fill(one, columns, one.value ? one.options[0].text : read);
    }
  }

  fill(select, names, none) {
    const { value } = select;
    select.replaceChildren(new Option(none, ""), ...names.map((name) => new Option(name, name)));
    select.value = names.includes(value) ? value : "";
  }

  redraw() {
    if (!this.panels) return;
    for (const place of this.querySelectorAll("[data-quantity]")) {
      const panel = this.panels[place.dataset.quantity];
      place.hidden = !panel;
      if (!panel) continue;
      place.querySelector(".cap").firstChild.data = `${panel.title} `;
      place.querySelector(".cap span").textContent = panel.note;
      draw(place.querySelector(".plot"), panel);
    }
  }
});

addEventListener("beforeprint", () => document.querySelector("run-doctor")?.redraw());
