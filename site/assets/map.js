// The pipeline map: which of its panels is seen, which arrows are cut, and an iteration step by step. All texts and numbers are in the page.
const PACE = 450;

customElements.define("pipeline-map", class extends HTMLElement {
  connectedCallback() {
    const links = [...this.querySelectorAll("svg a")], panels = [...this.querySelectorAll(".detail")];
    const cutter = this.querySelector("button.cut"), player = this.querySelector("button.step");
    const name = link => link.href.baseVal.slice(1), cut = new Set();
    let kept = this.querySelector(".detail.shown").id;

    const show = id => {
      for (const panel of panels) panel.classList.toggle("shown", panel.id === id);
      for (const link of links) link.classList.toggle("sel", name(link) === id);
    };
    const keep = id => {
      show(kept = id);
      cutter.hidden = !links.some(link => name(link) === id && link.classList.contains("edge"));
      cutter.textContent = cut.has(id) ? "Join this arrow" : "Cut this arrow";
    };
    const light = id => {
      for (const link of links) link.classList.toggle("on", name(link) === id);
    };
    for (const link of links) {
      link.addEventListener("mouseenter", () => show(name(link)));
      link.addEventListener("focus", () => show(name(link)));
      link.addEventListener("mouseleave", () => show(kept));
      link.addEventListener("blur", () => show(kept));
      link.addEventListener("click", event => {
        event.preventDefault();
        event.stopPropagation();            // the theme's instant navigation would fetch the page again
        keep(name(link));
      });
    }
    cutter.addEventListener("click", () => {
      cut.has(kept) ? cut.delete(kept) : cut.add(kept);
      for (const link of links) link.classList.toggle("cut", cut.has(name(link)));
      for (const panel of panels) panel.classList.toggle("cut", cut.has(panel.id));
      keep(kept);
    });
    player.addEventListener("click", async () => {
      player.disabled = true;
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
        for (const step of this.dataset.steps.split(" ")) {
          keep(`map-${step}`);
          light(kept);
          await new Promise(done => setTimeout(done, PACE));
        }
        light("");
      }
      this.classList.add("ran");
      player.disabled = false;
    });
    keep(kept);
    // A widget whose form has a `stage` lights the role of that stage, from the first time that it is turned.
    this.follow = ({ detail: { stage } }) => {
      if (!stage || stage === (this.stage ??= stage)) return;
      keep(`map-${this.dataset.steps.split(" ")[(this.stage = stage) - 1]}`);
      light(kept);
    };
    addEventListener("drawn", this.follow);
  }
  disconnectedCallback() { removeEventListener("drawn", this.follow); }
});
