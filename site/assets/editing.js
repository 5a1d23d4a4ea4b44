// A field for code that readers edit, with its buttons and state.
import { keep, kept } from "./page.js";

const LONGEST = 1900;  // milliseconds that a reader's code may be silent
const widget = () => document.querySelector("figure.rl-widget")?.id;
const named = () => ["reader_worker", widget()].filter(Boolean).join(" ");
python.own ??= interpreter(async () => (await import("./sandbox.js")).sandboxed(named()), LONGEST);

// Lines of two texts, [mark, line]: "+" is new, "−" is gone.
function differences(before, after) {
  const [a, b] = [before, after].map((text) => text.trimEnd().split("\n"));
  const common = [...a, ""].map(() => Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [down, right] = [common[i + 1][j], common[i][j + 1]];
      if (a[i] === b[j]) common[i][j] = common[i + 1][j + 1] + 1;
      else common[i][j] = down > right ? down : right;
    }
  }
  const found = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    if (a[i] === b[j] && i < a.length) found.push([" ", a[i++], j++]);
    else if (j < b.length && (i === a.length || common[i][j + 1] > common[i + 1][j])) found.push(["+", b[j++]]);
    else found.push(["−", a[i++]]);
  }
  return found.filter(([mark]) => mark !== " ");
}

export class Editing extends HTMLElement {
  connectedCallback() {
    this.field = this.$("textarea");
    this.ours = this.field.defaultValue;
    this.field.oninput = () => this.edited();
    this.$(".reset").onclick = () => this.bring(this.ours);
    this.$(".go").onclick = () => (this.asked ? this.halt() : this.run());
    new IntersectionObserver((seen, near) => seen.at(-1).isIntersecting && this.edit(near)).observe(this);
    const { source } = kept(this.key = `own:${this.dataset.kept ?? this.id}`);
    if (source) this.bring(source);
  }

  disconnectedCallback() {
    python.own.end();  // the next page has another widget
  }

  $(selector) {
    return this.querySelector(selector);
  }

  // The plain field gives way to an editor in view, as high as it.
  async edit(near) {
    near.disconnect();
    const { instead } = await import("../vendor/editor.js");
    const { offsetHeight: high } = this.field;
    this.field = instead(this.field, () => this.edited(), () => this.run());
    this.$(".cm-editor").style.minHeight = `${high}px`;
  }

  bring(source) {
    this.field.value = source;
    this.edited();
  }

  edited() {
    const source = this.field.value;
    keep(this.key, { source: source !== this.ours && source });
    this.$("pre code").textContent = source;  // for paper
    this.differ();
    if (!this.asked) this.enter("edited, not run");
  }

  differ() {
    const lines = differences(this.ours, this.field.value);
    this.$(".differs").hidden = !lines.length;
    this.$(".differs pre").replaceChildren(...lines.map(([mark, line]) => {
      const row = document.createElement(mark === "+" ? "ins" : "del");
      row.textContent = `${mark} ${line}`;
      return row;
    }));
  }

  enter(state, said = "", asked = false) {
    this.asked = asked;
    this.dataset.state = state;
    this.$(".state").textContent = state;
    this.$("[role=status]").textContent = said;
    this.$(".go").textContent = asked ? "Stop" : "Run";
  }

  halt() {
    this.enter("stopped", this.renew());
  }

  renew() {
    if (this.asked) python.own.renew();
  }

  why({ failed, error }) {
    return this.dataset[failed ? "failed" : "error"].replace("…", () => failed ?? error);
  }

  refused({ refused, line }) {
    this.enter("refused", refused);
    if (line) this.field.at?.(line);
  }
}
