// The pipeline map: a click on a part keeps its panel, a widget that turns to another stage that of its role; and an
// iteration is played.
let last;

function keep(panel) {
  if (panel) panel.checked = true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest(".pipeline svg a");
  if (!link) return;
  event.preventDefault();
  keep(document.getElementById(link.href.baseVal.replace("#map", "see")));
});

document.addEventListener("click", (event) => {
  const map = event.target.closest(".pipeline .step")?.form;
  if (!map) return;
  map.classList.remove("ran");
  map.getBoundingClientRect();                      // or else it would not begin anew
  map.classList.add("ran");
});

addEventListener("drawn", ({ detail: { stage } }) => {
  if (last && stage !== last) keep(document.querySelector(`.pipeline [data-step="${stage}"]`));
  last = stage ?? last;
});
