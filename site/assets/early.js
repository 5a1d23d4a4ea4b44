// In the head of a page with a widget: Python starts before the rest of the page is read. python.js takes it over.
if (!("early" in globalThis)) {
  globalThis.early = new Worker(new URL("worker.js", document.currentScript.src), { type: "module" });
  globalThis.early.onerror = ({ target }) => { target.lost = true; };          // nobody listens yet: python.js asks
}
