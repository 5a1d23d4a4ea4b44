// A function that readers edit: its field and its runs. Code runs when Run is pressed, not before.
import { draw } from "./figure.js";
import { keep, kept } from "./page.js";

const plain = (_, leaf) => (typeof leaf === "string" ? leaf.replaceAll("<", "‹") : leaf);  // for Plotly

customElements.define("own-code", class extends HTMLElement {
  connectedCallback() {
    this.field = this.$("textarea");
    this.ours = this.field.defaultValue;
    this.field.oninput = () => this.edited();
    this.$(".reset").onclick = () => this.bring(this.ours);
    this.$(".go").onclick = () => (this.asked ? this.enter("stopped", this.renew()) : this.run());
    new IntersectionObserver(([{ isIntersecting }], near) => isIntersecting && this.edit(near)).observe(this);
    const { source } = kept(`own:${this.id}`);
    if (source) this.bring(source);
  }

  disconnectedCallback() {
    this.renew();
  }

  $(selector) {
    return this.querySelector(selector);
  }

  // The plain field gives way to an editor in view.
  async edit(near) {
    near.disconnect();
    const { instead } = await import("../vendor/editor.js");
    this.field = instead(this.field, () => this.edited(), () => this.run());
  }

  bring(source) {
    this.field.value = source;
    this.edited();
  }

  edited() {
    const source = this.field.value;
    keep(`own:${this.id}`, { source: source !== this.ours && source });
    this.$("pre code").textContent = source;  // for paper
    if (!this.asked) this.enter("edited, not run");
  }

  enter(state, said = "", asked = false) {
    this.asked = asked;
    this.dataset.state = state;
    this.$(".state").textContent = state;
    this.$("[role=status]").textContent = said;
    this.$(".go").textContent = asked ? "Stop" : "Run";
  }

  run() {
    python.own.listen((news) => this.hear(news));
    this.enter("running", "", true);
    python.own.run(this.id, this.field.value);
  }

  // Each run has an interpreter of its own, so none finds what another has changed.
  renew() {
    if (this.asked) python.own.renew();
  }

  hear({ failed, error, frame }) {
    const shown = frame && JSON.parse(frame, plain);
    if (shown) this.show(shown);
    const why = failed ?? error;
    if (why) this.enter("stopped", this.dataset[failed ? "failed" : "error"].replace("…", () => why));
  }

  show({ refused, line, sentence, tables, panels, beside }) {
    this.renew();
    this.enter(refused ? "refused" : this.field.value === this.ours ? "ours" : "your code", refused ?? sentence);
    if (refused) return this.field.at?.(line);
    this.$(".beside").textContent = beside;
    tables.forEach(({ caption, rows }, i) => {
      const table = this.querySelectorAll("table")[i];
      table.caption.textContent = caption;
      table.tBodies[0].replaceChildren();
      for (const cells of rows) {
        const row = table.tBodies[0].insertRow();
        for (const cell of cells) row.insertCell().textContent = cell;
      }
    });
    this.panels = panels;
    this.redraw();
  }

  redraw() {
    this.panels?.forEach((panel, i) => draw(this.querySelectorAll(".plot")[i], panel));
  }
});
