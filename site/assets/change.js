// A function of the book that readers change: the widget above runs with it. It runs when Run is pressed, not before.
import { Editing } from "./editing.js";
import { draw } from "./figure.js";

// The page, which is in no sandbox, draws what a changed widget sends: of its HTML stays what figures are made of.
const LEADS = /<(?!\/?(b|br|button|circle|code|div|em|g|h4|i|output|path|pre|rect|span|sub|sup|svg|text)\b)/gi;
const tame = (_, leaf) => (typeof leaf === "string" ? leaf.replaceAll(LEADS, "‹") : leaf);

const PAUSE = 200;  // milliseconds after a move, while a run is on
const LONGEST = 4000;  // characters of a change that a link carries

customElements.define("change-code", class extends Editing {
  connectedCallback() {
    this.widget = this.closest("figure").querySelector("rl-widget");
    const { carried } = this.widget;
    super.connectedCallback();
    this.drawn(this.widget.shown);
    if (carried === undefined) return;
    this.widget.carried = carried;
    this.field.value = carried;  // and the reader's own stays kept until it is edited
    this.differ();
    this.enter("from the link, not run", this.dataset.carried);
  }

  // Of the code in force, for a link; "" of what is too long for one.
  get carried() {
    return this.source.length > LONGEST ? "" : this.source;
  }

  edited() {
    super.edited();
    this.widget.carried = undefined;  // the address has what runs
  }

  bring(source) {
    super.bring(source);
    if (source !== this.ours) return;
    if (this.source) return this.run();
    this.enter("ours");
    this.widget.share();
  }

  run() {
    const source = this.field.value;
    this.source = source.trimEnd() === this.ours.trimEnd() ? "" : source;
    if (this.source) return this.widget.changed(this);
    this.renew();
    this.enter("ours", this.dataset.ours);
    this.widget.changed();
  }

  // Beside the editor the leading panel, and in gray ours at these knobs.
  drawn({ panels, readouts }, ours) {
    const now = readouts.map(({ label, text }, i) => [label, text, ours && ours.readouts[i].text]);
    const differ = now.filter(([, text, other]) => other && other !== text).slice(0, 2);
    this.$(".against").textContent = differ.map(([label, text, other]) => `${label} ${text}, ours ${other}`).join("; ");
    const at = panels.findIndex(({ front }) => front);
    const i = at < 0 ? 0 : at;
    this.$(".mini .cap").innerHTML = panels[i].caption;
    draw(this.$(".mini .plot"), panels[i], ours?.panels[i], "ours");
  }

  halt() {
    this.widget.stop();
  }

  stopped() {
    clearTimeout(this.later);
    this.renew();
    this.enter("stopped");
  }

  // A run of the widget, at the knobs that stand in its form; not at each that a hand drags past.
  launch(name, form) {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.renew();
      python.own.listen((news) => this.hear(news));
      this.enter("running", "", true);
      python.own.run(name, JSON.stringify({ form, source: this.source }));
    }, this.asked ? PAUSE : 0);
  }

  hear(news) {
    const { frame, done, failed, error } = news;
    const told = frame ? JSON.parse(frame, tame) : {};
    const { exercises, beside, refused, line, panels } = told;
    if (exercises) this.judge(exercises);
    else if (beside !== undefined) this.$(".beside").textContent = beside;
    else if (refused) this.withdraw(() => this.refused({ refused, line }));
    else if (panels || done) this.widget.hear({ frame: panels && JSON.stringify(told), done });
    if (done && this.asked) this.end();
    if (failed ?? error) this.withdraw(() => this.enter("stopped", this.why(news)));
  }

  end() {
    this.renew();
    this.enter("your code", this.carried ? this.dataset.yours : `${this.dataset.yours} ${this.dataset.long}`);
  }

  // What failed is not what the figure shows.
  withdraw(say) {
    this.renew();
    say();
    this.source = "";
    this.widget.changed();
  }

  judge(exercises) {
    this.querySelectorAll(".exercises > li").forEach((one, i) => {
      one.classList.toggle("met", exercises[i].met);
      one.querySelector(".said").textContent = exercises[i].said;
    });
  }
});
