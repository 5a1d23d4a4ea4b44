// Working offline: what this page runs on is kept once Python has what it needs.
import { base, beingWritten, settle, workers } from "./store.js";

const LATER = 3000;  // milliseconds
const root = document.documentElement;
const soon = () => setTimeout(() => settle().catch(() => {}), LATER);  // without storage the book reads as well

// Not before Python has started: on a slow link each would wait for the other.
function afterPython(_, observer) {
  observer?.disconnect();
  if (root.dataset.python) soon();
  else new MutationObserver(afterPython).observe(root, { attributeFilter: ["data-python"] });
}

if (beingWritten) {
  workers?.getRegistration(base).then((found) => found?.unregister());
} else if (workers) {
  if (document.querySelector("rl-widget")) afterPython();
  else if (workers.controller) soon();
  else addEventListener("drawn", soon, { once: true });
}
