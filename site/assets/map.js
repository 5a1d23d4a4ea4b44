// The pipeline map: a click on a part keeps its panel, as does a widget with a `stage`, once it is turned, for the role of that stage; and an iteration is played.
let last;
const keep = (panel) => { if (panel) panel.checked = true; };

document.addEventListener("click", (event) => {
  const link = event.target.closest(".pipeline svg a"), played = event.target.closest(".pipeline .step")?.form;
  if (link) {
    event.preventDefault();
    keep(document.getElementById(link.href.baseVal.replace("#map", "see")));
  }
  if (played) {
    played.classList.remove("ran");
    played.getBoundingClientRect();                 // or else it would not begin anew
    played.classList.add("ran");
  }
});
addEventListener("drawn", ({ detail: { stage } }) => {
  if (last && stage !== last) keep(document.querySelector(`.pipeline [data-step="${stage}"]`));
  last = stage ?? last;
});
