// Python's worker: started once a visit, in the head of a page with a widget, and by the next run after it died or fell silent. One widget listens.
globalThis.python ??= (() => {
  const SILENCE = 10000, { src, dataset } = document.currentScript;      // milliseconds: a run that says nothing for so long is ended with its worker
  let worker, ready, hear, answer, alarm, newest = 0, pending = false;
  // Settled once Python has given its first answer, has none to give, or takes long. What keeps the page's one thread busy waits for it.
  const answered = new Promise((resolve) => { answer = resolve; setTimeout(resolve, 1500); });

  function start() {
    if (worker) return;
    worker = new Worker(new URL("worker.js", src), { type: "module" });
    worker.onerror = () => end({ failed: "its files did not arrive" });
    worker.onmessage = ({ data }) => {
      if (data.failed) return end(data);
      if (data.ready) [ready, document.documentElement.dataset.python] = [data, data.how];
      if ((data.done || data.error) && data.run === newest) pending = false;
      watch();
      if (ready && !pending) answer();
      if (!data.run || data.run === newest) hear?.(data);
    };
  }
  // A worker that is gone takes its run with it.
  function end(news) {
    worker.terminate();
    worker = ready = undefined; pending = false;
    watch();
    answer();
    hear?.(news);
  }
  const watch = () => { clearTimeout(alarm); alarm = ready && pending && setTimeout(end, SILENCE, { error: `no answer for ${SILENCE / 1000} s` }); };

  if ("start" in dataset) start();
  return {
    answered,
    // News of the interpreter (bytes loaded, ready, failed), of the newest run (frame, done, error), and of a table that was asked for.
    listen(listener) { hear = listener; start(); if (ready) hear(ready); },
    // Starts a run in place of the last one.
    run(name, knobs) {
      start();
      pending = true;
      worker.postMessage({ run: ++newest, name, knobs });
      if (!alarm) watch();                          // a knob that is turned on and on does not put the alarm off
    },
    stop() { pending = false; watch(); worker?.postMessage({ run: ++newest }); },
    table(name, frame) { start(); worker.postMessage({ name, table: frame }); },
  };
})();
