// The worker's life: started once a visit, started again after it died or fell silent. One widget listens, to the interpreter and to its own newest run.
const SILENCE = 10000;                              // milliseconds: a run that says nothing for so long is ended with its worker
const nobody = () => {};
let worker, ready = false, newest = 0, pending = false, alarm, answer, hear = nobody, muted = false;

// Settled once Python has given its first answer, has none to give, or takes long. What keeps the page's one thread busy waits for it.
export const answered = new Promise((resolve) => { answer = resolve; setTimeout(resolve, 1500); });

// News of the interpreter (bytes loaded, ready, failed) and of the newest run (frame, done, error). Returns how to stop listening.
export function listen(listener) {
  hear = listener;
  start();
  if (ready) hear({ ready });
  return () => { stop(); hear = nobody; };
}

function start() {
  if (worker) return;
  worker = globalThis.early ?? new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  globalThis.early = undefined;
  worker.onerror = () => end({ failed: "its files did not arrive" });
  worker.onmessage = ({ data }) => {
    if (data.failed) return end(data);
    if (data.ready) [ready, document.documentElement.dataset.python] = [true, data.how];
    if ((data.done || data.error) && data.run === newest) pending = false;
    watch();
    if (ready && !pending) answer();
    if (data.run ? data.run === newest : !muted) hear(data);
  };
  if (worker.lost) return end({ failed: "its files did not arrive" });
  worker.postMessage({ asked: "ready" });           // what it said before it was listened to is lost
}

// A worker that is gone takes its run with it. After one that fell silent another is started at once, unheard by the widget that
// now says so; after one that could not be loaded the next knob move tries again.
function end(news) {
  worker?.terminate();
  answer();
  worker = undefined; ready = pending = false;
  watch();
  hear(news);
  muted = !!news.error;
  if (muted) start();
}

function watch() {
  clearTimeout(alarm);
  alarm = ready && pending ? setTimeout(() => end({ error: `no answer for ${SILENCE / 1000} s` }), SILENCE) : undefined;
}

// Starts a run in place of the last one, and returns its number.
export function ask(name, knobs) {
  start();
  [pending, muted] = [true, false];
  worker.postMessage({ run: ++newest, name, knobs });
  alarm ?? watch();                                 // a knob that is turned on and on does not put the alarm off
  return newest;
}

export function stop() {
  if (!pending) return;
  pending = false;
  watch();
  worker?.postMessage({ run: ++newest });
}
