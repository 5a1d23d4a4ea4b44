// The pipeline map: a click on a part keeps its panel, as does a widget with a `stage` for the role of that stage; and an iteration is played. The rest is style.
let last;

document.addEventListener("click", (event) => {
  const link = event.target.closest(".pipeline svg a"), played = event.target.closest(".pipeline .step")?.form;
  if (link) {
    event.preventDefault();
    event.stopPropagation();                        // the theme's instant navigation would fetch the page again
    document.getElementById(link.href.baseVal.replace("#map", "see")).checked = true;
  }
  for (const on of played ? [false, true] : []) {
    played.classList.toggle("ran", on);
    played.getBoundingClientRect();                 // or else it would not begin anew
  }
}, { capture: true });
addEventListener("drawn", ({ detail: { stage } }) => {
  if (stage !== last) document.querySelector(`.pipeline [data-step="${stage}"]`)?.click();
  last = stage;
});
