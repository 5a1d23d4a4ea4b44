// The pipeline map: which of its panels is seen, which arrows are cut. All texts are in the page.
customElements.define("pipeline-map", class extends HTMLElement {
  connectedCallback() {
    const links = [...this.querySelectorAll("svg a")], panels = [...this.querySelectorAll(".detail")], button = this.querySelector("button.cut");
    const name = link => link.href.baseVal.slice(1), cut = new Set();
    let kept = panels[0].parentNode.querySelector(".shown").id;

    const show = id => {
      for (const panel of panels) panel.classList.toggle("shown", panel.id === id);
      for (const link of links) link.classList.toggle("sel", name(link) === id);
    };
    const keep = id => {
      kept = id;
      show(id);
      const arrow = links.some(link => name(link) === id && link.classList.contains("edge"));
      button.hidden = !arrow;
      button.textContent = cut.has(id) ? "Join this arrow" : "Cut this arrow";
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
    button.addEventListener("click", () => {
      cut.has(kept) ? cut.delete(kept) : cut.add(kept);
      for (const link of links) link.classList.toggle("cut", cut.has(name(link)));
      for (const panel of panels) panel.classList.toggle("cut", cut.has(panel.id));
      keep(kept);
    });
    keep(kept);
  }
});
