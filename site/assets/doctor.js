// The log of a run, and what Python says of it.
import { Files } from "./files.js";

customElements.define("run-doctor", class extends Files {
  static of = "doctor";
  static forgotten = "[name=held_out], [name^=map_]";

  connectedCallback() {
    super.connectedCallback();
    this.hint = this.$(".event").textContent;
    this.onclick = ({ target }) => {
      this.look(target.closest("[data-look]")?.dataset.look);
      this.sample(target.closest("[data-sample]")?.dataset.sample);
      this.step(Number(target.closest("[data-way]")?.dataset.way ?? 0));
    };
    this.$(".time").onkeydown = (event) => {
      if (this.step({ ArrowLeft: -1, ArrowRight: 1 }[event.key])) event.preventDefault();
    };
  }

  changed(field) {
    if (field.name !== "run") super.changed(field);
    else if (this.files) this.safely(() => this.read(this.files));
  }

  enter(state, said) {
    super.enter(state, said);
    const fold = this.$(".read");
    fold.hidden = state === "refused" && !said.includes(fold.firstElementChild.textContent);
  }

  show({ refused, first, found, said, written }) {
    this.write(written);
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
