// The pipeline map: which of its panels is seen, which arrows are cut, and an iteration step by step. All texts and numbers are in the page.
const PACE = 450, calm = matchMedia("(prefers-reduced-motion: reduce)"), named = (link) => link?.href.baseVal.slice(1);

customElements.define("pipeline-map", class extends HTMLElement {
  connectedCallback() {
    [this.links, this.panels, this.steps, this.cut] = [this.querySelectorAll("svg a"), this.querySelectorAll(".detail"), this.dataset.steps.split(" "), new Set()];
    [this.player, this.cutter] = this.querySelectorAll("button");
    for (const type of ["mouseover", "focusin"]) this.addEventListener(type, ({ target }) => this.show(named(target.closest("svg a")) ?? this.kept));
    for (const type of ["mouseleave", "focusout"]) this.addEventListener(type, () => this.show(this.kept));
    this.addEventListener("click", (event) => this.press(event, event.target.closest("svg a")));
    this.player.addEventListener("click", () => this.play());
    this.cutter.addEventListener("click", () => this.sever());
    this.keep(this.querySelector(".detail.shown").id);
    // A widget whose form has a `stage` lights the role of that stage, from the first time that it is turned.
    this.follow = ({ detail: { stage } }) => {
      if (stage && stage !== (this.stage ??= stage)) this.light(this.steps[(this.stage = stage) - 1]);
    };
    addEventListener("drawn", this.follow);
  }
  disconnectedCallback() { removeEventListener("drawn", this.follow); }
  mark(word, parts, holds) { for (const part of parts) part.classList.toggle(word, holds(part.id || named(part))); }
  show(id) {
    this.mark("shown", this.panels, (name) => name === id);
    this.mark("sel", this.links, (name) => name === id);
  }
  keep(id) {
    this.show(this.kept = id);
    this.cutter.hidden = !this.querySelector(`a.edge.sel`);
    this.cutter.textContent = this.cut.has(id) ? "Join this arrow" : "Cut this arrow";
  }
  light(step) {
    if (step) this.keep(`map-${step}`);
    this.mark("on", this.links, (name) => step && name === this.kept);
  }
  press(event, link) {
    if (!link) return;
    event.preventDefault();
    event.stopPropagation();                        // the theme's instant navigation would fetch the page again
    this.keep(named(link));
  }
  sever() {
    this.cut.delete(this.kept) || this.cut.add(this.kept);
    this.mark("cut", [...this.links, ...this.panels], (name) => this.cut.has(name));
    this.keep(this.kept);
  }
  async play() {
    this.player.disabled = true;
    for (const step of calm.matches ? [] : [...this.steps, ""]) {
      this.light(step);
      await new Promise((done) => setTimeout(done, step ? PACE : 0));
    }
    this.classList.add("ran");
    this.player.disabled = false;
  }
});
