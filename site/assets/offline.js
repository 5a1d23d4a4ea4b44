// Working offline: what this page runs on is kept once Python has what it needs.
import { base, beingWritten, settle, workers } from "./store.js";

const LATER = 3000;  // milliseconds
const soon = () => setTimeout(() => settle().catch(() => {}), LATER);  // without storage the book reads as well

if (beingWritten) {
  workers?.getRegistration(base).then((found) => found?.unregister());
} else if (workers) {
  if (document.querySelector("rl-widget") || workers.controller) soon();
  else addEventListener("drawn", soon, { once: true });
}
