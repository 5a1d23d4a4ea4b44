// The worker's life: started once a visit, started again after it died or fell silent. Callers hand in a run and hear of it.
const SILENCE = 10000;                              // milliseconds: a run that says nothing for so long is ended with its worker
const listeners = new Set(), runs = new Map();
let worker, ready = false, newest = 0, alarm, answer, deaf = new Set();

// Settled once Python has given its first answer, has none to give, or takes long. What keeps the page's one thread busy waits for it.
export const answered = new Promise((resolve) => { answer = resolve; setTimeout(resolve, 1500); });

// News of the interpreter itself: bytes loaded, ready, failed. Returns how to stop listening.
export function listen(listener) {
  listeners.add(listener);
  start();
  if (ready) listener({ ready });
  return () => listeners.delete(listener);
}

function start() {
  if (worker) return;
  worker = globalThis.early ?? new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  globalThis.early = undefined;
  worker.onerror = () => end({ failed: "its files did not arrive" });
  worker.onmessage = ({ data }) => {
    if (data.failed) return end(data);
    if (data.ready) [ready, document.documentElement.dataset.python] = [true, data.how];
    const hear = runs.get(data.run);
    if (data.done || data.error) runs.delete(data.run);
    watch();
    if (data.frame || (ready && !runs.size)) answer();
    data.run === undefined ? listeners.forEach((listener) => deaf.has(listener) || listener(data)) : hear?.(data);
  };
  if (worker.lost) return end({ failed: "its files did not arrive" });
  worker.postMessage({ asked: "ready" });           // what it said before it was listened to is lost
}

// A worker that is gone takes its runs with it. After one that fell silent another is started at once, unheard by the widgets that
// now say so; after one that could not be loaded the next knob move tries again.
function end(news) {
  worker?.terminate();
  answer();
  worker = undefined; ready = false;
  runs.clear();
  watch();
  listeners.forEach((listener) => listener(news));
  deaf = new Set(news.error ? listeners : []);
  if (news.error) start();
}

function watch() {
  clearTimeout(alarm);
  alarm = ready && runs.size ? setTimeout(() => end({ error: `no answer for ${SILENCE / 1000} s` }), SILENCE) : undefined;
}

// Starts a run in place of run `instead`, and returns its number.
export function ask(name, knobs, hear, instead) {
  runs.delete(instead);
  start();
  runs.set(++newest, hear);
  worker.postMessage({ run: newest, name, knobs });
  alarm ?? watch();                                 // a knob that is turned on and on does not put the alarm off
  return newest;
}

export function stop(run) {
  if (!runs.delete(run)) return;
  watch();
  worker?.postMessage({ run: ++newest });
}
