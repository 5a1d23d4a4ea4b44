// A log, handed to Python piece by piece, and what Python says of it.
const SIZE = 1 << 18;  // of a piece
const mega = (bytes) => (bytes / 1e6).toFixed(1);
const LONGEST = 60000;  // milliseconds that Python may be silent
const doctor = globalThis.interpreter(async () => (await import("./sandbox.js")).sandboxed("doctor"), LONGEST);

customElements.define("run-doctor", class extends HTMLElement {
  connectedCallback() {
    this.form = this.$("form");
    this.turn = 0;
    this.hint = this.$(".event").textContent;
    this.form.onsubmit = () => false;
    this.onchange = ({ target }) => this.changed(target);
    this.onclick = ({ target }) => {
      this.look(target.closest("[data-look]")?.dataset.look);
      this.sample(target.closest("[data-sample]")?.dataset.sample);
      this.step(Number(target.closest("[data-way]")?.dataset.way ?? 0));
    };
    this.$(".time").onkeydown = (event) => {
      if (this.step({ ArrowLeft: -1, ArrowRight: 1 }[event.key])) event.preventDefault();
    };
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
      if (event.dataTransfer.files.length) this.form.files.files = event.dataTransfer.files;
      this.take([...event.dataTransfer.files]);
    };
  }

  $(selector) {
    return this.querySelector(selector);
  }

  changed({ name, files }) {
    if (name === "files") this.take([...files]);
    else if (name === "run" && this.files) this.safely(() => this.read(this.files));
    else if (!["text", "run"].includes(name)) this.again();
  }

  enter(state, said) {
    this.dataset.state = state;
    this.$(".reading").hidden = state !== "reading";
    this.$(".verdict").textContent = said;
    const fold = this.$(".read");
    fold.hidden = state === "refused" && !said.includes(fold.firstElementChild.textContent);
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

  // With "": the log that the page opens on.
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
    this.$(".reading span").textContent = total ? `${mega(read)} of ${mega(total)} MB` : "Starting Python";
  }

  // `written` is Python's, with a log's names escaped.
  show({ refused, first, found, said, written = {} }) {
    for (const [selector, html] of Object.entries(written)) this.$(selector).innerHTML = html;
    if (refused) {
      for (const one of this.querySelectorAll("summary")) one.parentNode.open ||= refused.includes(one.innerText);
      return this.enter("refused", refused);
    }
    this.enter(found ? "fired" : "quiet", said);
    this.$(".event").textContent = this.hint;
    for (const one of this.querySelectorAll("[data-sign]")) one.hidden = one.dataset.sign !== first;
  }

  // An event or a fact is looked at: its rows are shaded, and what it says stands above the curves.
  look(key) {
    if (!key) return;
    for (const one of this.querySelectorAll("[data-look]")) one.classList.toggle("now", one.dataset.look === key);
    this.$(".event").textContent = this.$(`li[data-look="${key}"]`).innerText;
  }

  step(way) {
    const marks = [...this.querySelectorAll(".mark")];
    if (!way || !marks.length) return false;
    const now = marks.findIndex((mark) => mark.classList.contains("now"));
    const next = now < 0 && way < 0 ? marks.length - 1 : (now + way + marks.length) % marks.length;
    this.look(marks[next].dataset.look);
    return true;
  }
});
