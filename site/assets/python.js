// The worker's life: started once a visit, restarted when it died or did not answer. Callers hand in a run and hear of it.
const SILENCE = 10000;                              // a run that says nothing for so long is ended with its worker
const listeners = new Set(), runs = new Map();
let worker, ready = false, newest = 0, alarm;

const tell = (news) => listeners.forEach((listener) => listener(news));
export const listen = (listener) => { listeners.add(listener); if (ready) listener({ ready }); return () => listeners.delete(listener); };

export function start() {
  if (worker) return;
  try { worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" }); } catch (error) { return void tell({ failed: error.message }); }
  worker.onerror = () => end({ failed: "the worker stopped" });
  worker.onmessage = ({ data }) => {
    if (data.ready) { ready = true; watch(); }
    if (data.failed) end(data);
    if (data.run === undefined) return tell(data);
    const hear = runs.get(data.run);
    watch();
    if (data.done || data.error) { runs.delete(data.run); clearTimeout(alarm); }
    hear?.(data);
  };
}

// A worker that is gone takes its runs with it; the next knob move starts another.
function end(news) {
  worker?.terminate();
  worker = undefined; ready = false;
  clearTimeout(alarm);
  const waiting = [...runs.values()];
  runs.clear();
  waiting.length && news.error ? waiting.forEach((hear) => hear(news)) : tell(news);
}

const watch = () => {
  clearTimeout(alarm);
  if (ready && runs.size) alarm = setTimeout(() => end({ error: `No answer for ${SILENCE / 1000} s: Python was ended and will start again` }), SILENCE);
};

// Starts a run and forgets every older one of the same widget; returns the run's number for `stop`.
export function ask(name, knobs, hear, before) {
  runs.delete(before);
  start();
  runs.set(++newest, hear);
  worker?.postMessage({ run: newest, name, knobs });
  watch();
  return newest;
}

export function stop(run) {
  runs.delete(run);
  clearTimeout(alarm);
  worker?.postMessage({ run: ++newest });
}
