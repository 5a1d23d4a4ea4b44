// Working offline: what this page runs on is kept once Python has what it needs, and so is the script that keeps it.
const LATER = 3000;  // milliseconds
const root = document.documentElement;
const store = () => import("./store.js");
const soon = () => setTimeout(() => keepAll().catch(() => {}), LATER);  // without storage the book reads as well

async function keepAll() {
  const { settle, workers } = await store();
  if (workers) await settle();
}

async function forget() {
  const { base, workers } = await store();
  (await workers?.getRegistration(base))?.unregister();
}

// Not before Python has started: on a slow link each would wait for the other.
function afterPython(_, observer) {
  observer?.disconnect();
  if (root.dataset.python) soon();
  else new MutationObserver(afterPython).observe(root, { attributeFilter: ["data-python"] });
}

if (document.querySelector('script[src="/-/reload.js"]')) forget();  // the book is being written: all pages come fresh
else if (document.querySelector("rl-widget")) afterPython();
else if (navigator.serviceWorker?.controller) soon();
else addEventListener("drawn", soon, { once: true });
