// A module's page has no switch of its own: it wears the light that the reader chose beside the lessons, or else the system's.
const home = new URL(".", document.querySelector(".codehead a").href).pathname;
const chosen = JSON.parse(localStorage.getItem(`${home}.__palette`))?.color.scheme;
document.body.dataset.mdColorScheme = chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "slate" : "default");
