// A function that readers write, and what comes of it.
import { Editing } from "./editing.js";
import { draw } from "./figure.js";
import { keep, kept } from "./page.js";

const plain = (_, leaf) => (typeof leaf === "string" ? leaf.replaceAll("<", "‹") : leaf);  // for Plotly

const words = (item) => item.textContent.trim();

customElements.define("own-code", class extends Editing {
  connectedCallback() {
    super.connectedCallback();
    this.mark();
  }

  run() {
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

  // A goal once reached stays reached.
  reach(goals) {
    if (!goals.length) return;
    const key = `met:${this.dataset.widget}`;
    const fresh = [...this.querySelectorAll(".goals > li")].filter((_, i) => goals[i]).map(words);
    keep(key, [...new Set([...Object.values(kept(key)), ...fresh])]);
    this.mark();
  }

  mark() {
    const known = Object.values(kept(`met:${this.dataset.widget}`));
    for (const item of this.querySelectorAll(".goals > li")) item.className = known.includes(words(item)) ? "met" : "";
  }

  redraw() {
    this.panels?.forEach((panel, i) => draw(this.querySelectorAll(".plot")[i], panel));
  }
});
