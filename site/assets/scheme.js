// A module's page has no switch: it wears the light chosen beside the lessons, or the system's.
const home = new URL(".", document.querySelector(".codebar a").href).pathname;
const chosen = JSON.parse(localStorage.getItem(`${home}.__palette`))?.color.scheme;
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "slate" : "default";
document.body.dataset.mdColorScheme = chosen ?? system;
