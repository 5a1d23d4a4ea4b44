// Python's workers: each started once a visit, and by the next run after it died or was silent for too long. One
// element listens.
function interpreter(open, longest) {  // `open` gives a promise of a worker
  const OURS = 10000;  // milliseconds that our own code may be silent
  const silence = longest ?? OURS;
  const LONG = 1500;  // milliseconds after which nobody waits for the first answer
  let worker;
  let ready;  // and how it began
  let hear;
  let alarm;
  let newest = 0;
  let pending = false;

  // Settled once Python has answered, or takes long: what keeps the page busy waits for it.
  let answer;
  const answered = new Promise((resolve) => {
    answer = resolve;
    setTimeout(resolve, LONG);
  });

  function start() {
    if (worker) return;
    const opened = open();
    const lost = () => opened === worker && end({ failed: "its files did not arrive" });
    worker = opened;
    worker.then((one) => {
      one.onerror = lost;
      one.onmessage = ({ data }) => (data.failed ? end(data) : take(data));
    }, lost);
  }

  function send(news) {
    worker.then((one) => one.postMessage(news), () => {});
  }

  function take(news) {
    if (news.ready) {
      ready = news;
      document.documentElement.dataset.python = news.how;
    }
    if ((news.done || news.error) && news.run === newest) pending = false;
    watch(news.frame === "false" ? OURS : silence);  // "false": the reader's code has ended
    if (ready && !pending) answer();
    if (!news.run || news.run === newest) hear?.(news);
  }

  // A worker that is gone takes its run with it.
  function end(news) {
    worker.then((one) => one.terminate(), () => {});
    worker = undefined;
    ready = undefined;
    pending = false;
    watch();
    answer();
    hear?.(news);
  }

  function watch(longest = silence) {
    clearTimeout(alarm);
    alarm = undefined;
    if (ready && pending) alarm = setTimeout(end, longest, { error: `no answer for ${longest / 1000} s` });
  }

  return {
    answered,
    // News of the interpreter, of the newest run (frame, done, error), and of a table.
    listen(listener) {
      hear = listener;
      start();
      if (ready) hear(ready);
    },
    // A widget that will run soon: its modules are fetched and imported ahead.
    expect(name) {
      send({ expect: name });
    },
    // Starts a run in place of the last one.
    run(name, knobs) {
      start();
      pending = true;
      newest += 1;
      send({ run: newest, name, knobs });
      if (!alarm) watch();  // a knob that is turned on and on does not put the alarm off
    },
    stop() {
      pending = false;
      watch();
      newest += 1;
      if (worker) send({ run: newest });
    },
    table(name, frame) {
      start();
      send({ name, table: frame });
    },
    end() {
      if (worker) end({});
    },
    renew() {
      if (worker) end({});
      start();
    },
  };
}

globalThis.python ??= (({ src, dataset }) => {
  const page = interpreter(async () => new Worker(new URL("worker.js", src), { type: "module" }));
  if ("start" in dataset) page.renew();
  return page;
})(document.currentScript);
