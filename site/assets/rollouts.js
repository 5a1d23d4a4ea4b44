// The completions of a run, step by step: what is seen of them is Python's.
import { Files } from "./files.js";

const PACE = 1100;  // milliseconds a step
const OPTIONS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

customElements.define("run-rollouts", class extends Files {
  static of = "rollouts";
  static forgotten = "[name=group], [name=fact], [name^=map_]";

  connectedCallback() {
    super.connectedCallback();
    this.onclick = ({ target }) => {
      this.sample(target.closest("[data-sample]")?.dataset.sample);
      this.choose(target.closest("[data-option]"));
      if (target.closest(".go")) this.play();
    };
    this.oninput = ({ target }) => target.name === "at" && this.stop();
    this.onkeydown = (event) => {
      const option = event.target.closest("[data-option]");
      if (option && this.choose(this.beside(option, OPTIONS[event.key]))) event.preventDefault();
    };
  }

  changed(field) {
    if (field.name.startsWith("map_") && this.files) {
      this.fresh = true;
      this.safely(() => this.read(this.files, true));
    } else if (field.name !== "at") super.changed(field);
  }

  // Of other files Python chooses step and weight. They are read in the order of their numbers, as in a terminal.
  read(files, keep) {
    this.fresh ||= !keep;
    if (!keep) this.stop(true);
    const order = new Intl.Collator("en", { numeric: true });
    return super.read([...files].sort((a, b) => order.compare(a.name, b.name)), keep);
  }

  asked() {
    const form = JSON.parse(super.asked());
    const { sample } = this.$("[data-sample][aria-pressed=true]")?.dataset ?? {};
    return JSON.stringify({ ...form, sample, ...(this.fresh ? { at: "", unit: "" } : {}) });
  }

  // After a refusal the run before is still there.
  again() {
    if (this.dataset.state === "refused") {
      this.known = true;
      this.fresh = false;
    }
    super.again();
  }

  // A group or a fact: the form holds which.
  choose(option) {
    if (!option) return false;
    const { kind, option: value } = option.dataset;
    const field = this.form.elements[kind];
    field.value = field.value === value && kind === "fact" ? "" : value;
    this.wanted = `[data-kind=${kind}][data-option="${value}"]`;
    this.again();
    return true;
  }

  beside(option, way) {
    const all = [...this.querySelectorAll(`[data-kind=${option.dataset.kind}]`)];
    return way && all[(all.indexOf(option) + way + all.length) % all.length];
  }

  play() {
    if (this.timer) return this.stop();
    const { at } = this.form.elements;
    if (at.value === at.max) at.value = 0;
    this.$(".go").ariaPressed = true;
    this.timer = setInterval(() => {
      if (!this.known) return;
      at.value = Number(at.value) + 1;
      this.again();
      if (at.value === at.max) this.stop(true);
    }, PACE);
    this.again();
  }

  stop(shown) {
    clearInterval(this.timer);
    this.timer = undefined;
    this.$(".go").ariaPressed = false;
    if (!shown) this.again();
  }

  show({ refused, at, last, word, unit, written }) {
    this.enter(refused ? "refused" : "shown", refused ?? "");
    this.write(written);
    if (refused) {
      this.$(".read").open ||= "[name=map_prompt]" in written;
      return;
    }
    this.fresh = false;
    const { at: range, unit: weight } = this.form.elements;
    weight.value = unit;
    range.max = last;
    range.value = at;
    range.ariaValueText = word;
    this.style.setProperty("--at", last ? at / last : 0);
    if (this.wanted) this.$(this.wanted)?.focus();
    this.wanted = undefined;
  }
});
