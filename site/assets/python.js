// The worker's life: started once a visit, started again after it died or fell silent. Callers hand in a run and hear of it.
const SILENCE = 10000;                              // milliseconds: a run that says nothing for so long is ended with its worker
const listeners = new Set(), runs = new Map();
let worker, ready = false, newest = 0, alarm;

// News of the interpreter itself: bytes loaded, ready, failed. Returns how to stop listening.
export function listen(listener) {
  listeners.add(listener);
  worker ?? start();
  if (ready) listener({ ready });
  return () => listeners.delete(listener);
}

function start() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onerror = () => end({ failed: "its files did not arrive" });
  worker.onmessage = ({ data }) => {
    if (data.failed) return end(data);
    if (data.ready) [ready, document.documentElement.dataset.python] = [true, data.how];
    const hear = runs.get(data.run);
    if (data.done || data.error) runs.delete(data.run);
    watch();
    data.run === undefined ? listeners.forEach((listener) => listener(data)) : hear?.(data);
  };
}

// A worker that is gone takes its runs with it; the next knob move starts another.
function end(news) {
  worker?.terminate();
  clearTimeout(alarm);
  worker = undefined; ready = false;
  runs.clear();
  listeners.forEach((listener) => listener(news));
}

function watch() {
  clearTimeout(alarm);
  if (ready && runs.size) alarm = setTimeout(() => end({ error: `no answer for ${SILENCE / 1000} s` }), SILENCE);
}

// Starts a run in place of run `instead`, and returns its number.
export function ask(name, knobs, hear, instead) {
  runs.delete(instead);
  worker ?? start();
  runs.set(++newest, hear);
  worker.postMessage({ run: newest, name, knobs });
  watch();
  return newest;
}

export function stop(run) {
  if (!runs.delete(run)) return;
  watch();
  worker?.postMessage({ run: ++newest });
}
