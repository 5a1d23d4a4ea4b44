// A function that readers write, and what comes of it.
import { Editing } from "./editing.js";
import { draw } from "./figure.js";
import { keep, kept } from "./page.js";

const plain = (_, leaf) => (typeof leaf === "string" ? leaf.replaceAll("<", "‹") : leaf);  // for Plotly

const words = (li) => li.textContent;

customElements.define("own-code", class extends Editing {
  connectedCallback() {
    super.connectedCallback();
    this.reach([]);
  }

  run() {
    for (const one of document.querySelectorAll("own-code")) if (one.asked) one.halt();
    python.own.listen((news) => this.hear(news));
    this.enter("running", "", true);
    python.own.run(this.id, this.field.value);
  }

  hear(news) {
    const shown = news.frame && JSON.parse(news.frame, plain);
    if (shown) this.show(shown);
    if (news.failed ?? news.error) this.enter("stopped", this.why(news));
  }

  show(shown) {
    const { sentence, tables, panels, beside } = shown;
    this.renew();
    if (shown.refused) return this.refused(shown);
    this.enter(this.field.value === this.ours ? "ours" : "your code", sentence);
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
    this.reach(shown.goals);
  }

  // A goal stays reached.
  reach(goals) {
    const items = [...this.querySelectorAll(".goals > li")];
    const key = `met:${this.dataset.widget}`;
    const known = new Set([...Object.values(kept(key)), ...items.map(words).filter((_, i) => goals[i])]);
    if (goals.length) keep(key, [...known]);
    for (const li of items) li.classList.toggle("met", known.has(words(li)));
  }

  redraw() {
    this.panels?.forEach((panel, i) => draw(this.querySelectorAll(".plot")[i], panel));
  }
});
