// A log, handed to Python piece by piece, and what Python says of it.
import { draw } from "./figure.js";

const SIZE = 1 << 18;  // of a piece
const mega = (bytes) => (bytes / 1e6).toFixed(1);
const LONGEST = 60000;  // milliseconds that Python may be silent
const doctor = globalThis.interpreter(async () => (await import("./sandbox.js")).sandboxed("doctor"), LONGEST);

customElements.define("run-doctor", class extends HTMLElement {
  connectedCallback() {
    this.form = this.$("form");
    this.turn = 0;
    this.form.onsubmit = () => false;
    this.form.onchange = ({ target }) => this.changed(target);
    this.form.onreset = () => setTimeout(() => this.again());
    this.$(".paste").onclick = () => this.take([new File([this.form.text.value], "pasted text")]);
    this.$(".stop").onclick = () => {
      this.turn += 1;
      this.enter("stopped", "Stopped.");
    };
    this.ondragover = (event) => event.preventDefault();
    this.ondrop = (event) => {
      event.preventDefault();
      this.take([...event.dataTransfer.files]);
    };
  }

  $(selector) {
    return this.querySelector(selector);
  }

  changed({ name, files, value }) {
    if (name === "files") this.take([...files]);
    else if (name === "sample") this.sample(value);
    else if (name === "run") this.take(this.files);
    else if (name !== "text") this.again();
  }

  enter(state, said) {
    this.dataset.state = state;
    this.$(".reading").hidden = state !== "reading";
    this.$(".verdict").textContent = said;
  }

  asked() {
    return JSON.stringify({ ...Object.fromEntries(new FormData(this.form)), files: "", text: "" });
  }

  say(what, data = "") {
    return new Promise((resolve, reject) => {
      let answer;
      doctor.listen(({ frame, done, failed, error }) => {
        if (frame) answer = JSON.parse(frame);
        if (done) resolve(answer);
        const why = failed ?? error;
        if (why) reject(new Error(this.dataset[failed ? "failed" : "error"].replace("…", () => why)));
      });
      doctor.run(what, data);
    });
  }

  // Without a format: the log that is recorded.
  sample(format) {
    return this.safely(async () => {
      this.progress();
      const { files } = await this.say("sample", format);
      return this.read(Object.entries(files).map(([name, text]) => new File([text], name)), !format);
    });
  }

  take(files) {
    if (files?.length) this.safely(() => this.read(files));
  }

  again() {
    if (this.dataset.state === "static") this.sample("");
    else if (this.log) this.safely(async () => this.show(await this.say("ask", this.asked())));
  }

  async safely(steps) {
    const turn = (this.turn += 1);
    this.here = () => turn === this.turn;
    try {
      await steps();
    } catch (fault) {
      if (turn !== this.turn) return;
      this.log = false;  // gone with the worker
      this.enter("stopped", fault.message);
    }
  }

  async read(files, keep) {
    const here = this.here;
    const total = files.reduce((sum, file) => sum + file.size, 0);
    this.files = files;
    this.log = false;
    if (total > this.dataset.limit * 1e6) return this.enter("refused", this.dataset.large.replace("…", mega(total)));
    // of another log
    for (const one of keep ? [] : this.querySelectorAll("[name=held_out], [name^=map_]")) one.value = "";
    this.progress();
    let past = 0;
    let answer = await this.say("begin", this.asked());
    for (const file of files) {
      answer = await this.say("file", file.name);
      for (let at = 0; at < file.size && !answer.refused && here(); at += SIZE) {
        this.progress(past + at, total);
        answer = await this.say("piece", new Uint8Array(await file.slice(at, at + SIZE).arrayBuffer()));
      }
      if (answer.refused || !here()) break;
      past += file.size;
    }
    if (!here()) return;
    if (!answer.refused) answer = await this.say("end");
    this.log = !answer.refused;
    if (here()) this.show(this.log ? await this.say("ask", this.asked()) : answer);
  }

  // No numbers until Python runs.
  progress(read, total) {
    this.enter("reading", "Reading.");
    if (total) this.$("progress").value = read / total;
    else this.$("progress").removeAttribute("value");
    this.$(".reading span").textContent = total ? `${mega(read)} of ${mega(total)} MB` : "Python starts";
  }

  // `written` is Python's, with a log's names escaped.
  show({ refused, first, said, tests, written = {}, panels }) {
    for (const [selector, html] of Object.entries(written)) this.$(selector).innerHTML = html;
    if (refused) {
      for (const one of this.querySelectorAll("summary")) one.parentNode.open ||= refused.includes(one.innerText);
      return this.enter("refused", refused);
    }
    this.enter(first ? "fired" : "quiet", said);
    const rows = this.querySelectorAll(".tables tbody tr");
    tests.forEach((told, i) => {
      rows[i].dataset.state = told[0];
      told.forEach((text, n) => (rows[i].cells[n + 1].textContent = text));
    });
    this.$(".next").innerHTML = first ? `Read on: ${rows[first - 1].cells[4].innerHTML}` : "";
    this.panels = panels;
    this.redraw();
  }

  redraw() {
    if (!this.panels) return;
    for (const place of this.querySelectorAll("[data-quantity]")) {
      const panel = this.panels[place.dataset.quantity];
      if ((place.hidden = !panel)) continue;
      place.querySelector(".cap").innerHTML = panel.caption;
      draw(place.querySelector(".plot"), panel);
    }
  }
});
