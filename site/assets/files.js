// Files that a reader brings, handed to Python piece by piece, and what Python says of them.
import { dropped } from "./dropped.js";

const SIZE = 1 << 18;  // of a piece
const LONGEST = 60000;  // milliseconds that Python may be silent
const mega = (bytes) => (bytes / 1e6).toFixed(1);

export class Files extends HTMLElement {
  static of = "";  // the module of widgets/frame/reader/ that reads them
  static forgotten = "";  // selects fields that are about one file, emptied for the next

  connectedCallback() {
    const { of } = this.constructor;
    this.python = globalThis.interpreter(async () => (await import("./sandbox.js")).sandboxed(of), LONGEST);
    this.form = this.$("form");
    this.turn = 0;
    this.form.onsubmit = () => false;
    this.onchange = ({ target }) => this.changed(target);
    this.$(".paste").onclick = () => {
      this.form.files.value = "";
      this.take([new File([this.form.text.value], "pasted text")]);
    };
    this.$(".stop").onclick = () => {
      this.turn += 1;
      this.enter("stopped", "Stopped.");
    };
    this.ondragover = (event) => event.preventDefault();
    this.ondrop = (event) => {
      event.preventDefault();
      const { files } = event.dataTransfer;
      const found = dropped(event.dataTransfer);
      if (files.length) this.form.files.files = files;
      this.safely(async () => {
        const all = await found;
        if (!all.length) return this.enter("refused", this.dataset.empty);
        this.take(all);
      });
    };
  }

  $(selector) {
    return this.querySelector(selector);
  }

  changed({ name, files }) {
    if (name === "files") this.take([...files]);
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
      this.python.listen(({ frame, done, failed, error }) => {
        if (frame) answer = JSON.parse(frame);
        if (done) resolve(answer);
        const why = failed ?? error;
        if (why) reject(new Error(this.dataset[failed ? "failed" : "error"].replace("…", () => why)));
      });
      this.python.run(what, data);
    });
  }

  // With "": the files that the page opens on.
  sample(name) {
    if (name === undefined) return;
    this.safely(async () => {
      this.form.files.value = "";
      if (name) this.pressed(name);
      this.progress();
      const { files } = await this.say("sample", name);
      return this.read(Object.entries(files).map(([file, text]) => new File([text], file)), !name);
    });
  }

  pressed(name) {
    for (const one of this.querySelectorAll("[data-sample]")) one.ariaPressed = one.dataset.sample === name;
  }

  take(files) {
    if (!files?.length) return;
    this.pressed();
    this.safely(() => this.read(files));
  }

  again() {
    if (this.dataset.state === "static") this.sample("");
    else if (this.known) this.safely(async () => this.show(await this.say("ask", this.asked())));
  }

  async safely(steps) {
    const turn = (this.turn += 1);
    this.here = () => turn === this.turn;
    try {
      await steps();
    } catch (fault) {
      if (turn !== this.turn) return;
      this.known = false;  // gone with the worker
      this.enter("stopped", fault.message);
    }
  }

  async read(files, keep) {
    const here = this.here;
    const total = files.reduce((sum, file) => sum + file.size, 0);
    this.files = files;
    this.known = false;
    if (total > this.dataset.limit * 1e6) return this.enter("refused", this.dataset.large.replace("…", mega(total)));
    const { forgotten } = this.constructor;
    for (const one of keep ? [] : this.querySelectorAll(forgotten)) one.value = "";
    this.progress();
    let past = 0;
    let answer = await this.say("begin", this.asked());
    for (const file of files) {
      answer = await this.say("file", file.name);
      for await (const [piece, at] of this.pieces(file)) {
        if (answer.refused || !here()) break;
        this.progress(past + at, total);
        answer = await this.say("piece", piece);
      }
      if (answer.refused || !here()) break;
      past += file.size;
    }
    if (!here()) return;
    if (!answer.refused) answer = await this.say("end");
    this.known = !answer.refused;
    if (here()) this.show(this.known ? await this.say("ask", this.asked()) : answer);
  }

  // Each with its place in the file. Parquet becomes lines of JSON here.
  async *pieces(file) {
    if (await file.slice(0, 4).text() === "PAR1") return yield* this.rows(file);
    for (let at = 0; at < file.size; at += SIZE) {
      yield [new Uint8Array(await file.slice(at, at + SIZE).arrayBuffer()), at];
    }
  }

  async *rows(file) {
    const { lines } = await import("../vendor/parquet.js");
    const encoder = new TextEncoder();
    try {
      for await (const [text, share] of lines(await file.arrayBuffer())) {
        const bytes = encoder.encode(text);
        for (let at = 0; at < bytes.length; at += SIZE) yield [bytes.slice(at, at + SIZE), share * file.size];
      }
    } catch (fault) {
      yield [this.dataset.parquet.replace("…", () => fault.message), file.size];
    }
  }

  // No numbers until Python runs.
  progress(read, total) {
    this.enter("reading", "Reading.");
    if (total) this.$("progress").value = read / total;
    else this.$("progress").removeAttribute("value");
    this.$(".reading span").textContent = total ? `${mega(read)} of ${mega(total)} MB` : "Starting Python";
  }

  // `written` is Python's, {selector: HTML}, with all that comes from a file escaped.
  write(written = {}) {
    for (const [selector, html] of Object.entries(written)) this.$(selector).innerHTML = html;
  }
}
