// Moves a small figure: every position was drawn at build and lies in the page.
document.addEventListener("input", ({ target }) => {
  const figure = target.closest(".rl-figure");
  if (!figure) return;
  const [contents, alts, said, word] = JSON.parse(figure.querySelector("template").content.textContent)[target.value];
  contents.forEach((content, i) => {
    const part = figure.querySelector(`[data-part="${i}"]`);
    part.innerHTML = content;
    part.closest("svg")?.setAttribute("aria-label", alts[i]);
  });
  const sentence = figure.querySelector(".said");
  if (sentence) sentence.textContent = said;
  if (target.type !== "range") return;
  target.ariaValueText = word;
  target.style.setProperty("--p", `${(100 * target.value) / target.max}%`);
  figure.querySelector("output").textContent = word;
});
