// Python's half of a widget: one interpreter a visit, one generator a knob position, newest run wins.
import { loadPyodide } from "../vendor/pyodide/pyodide.mjs";

let latest = 0, loaded = 0;
const TOTAL = 15.4e6;                               // bytes of the runtime's files, for the word beside the widget only

// Every byte of the runtime passes here once, so that a slow network sees how far it is.
const plainFetch = fetch;
self.fetch = async (...request) => {
  const response = await plainFetch(...request);
  if (!response.body) return response;
  const counted = response.body.pipeThrough(new TransformStream({ transform(chunk, out) {
    out.enqueue(chunk);
    postMessage({ loaded: (loaded += chunk.byteLength), total: TOTAL });
  } }));
  return new Response(counted, { status: response.status, headers: response.headers });
};

const host = boot();
host.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: error.message }));

async function boot() {
  const [python, archive] = await Promise.all([
    loadPyodide({ packages: ["numpy"] }),
    fetch(new URL("../vendor/python.zip", import.meta.url)).then((r) => r.arrayBuffer()),
  ]);
  self.fetch = plainFetch;
  python.unpackArchive(archive, "zip");
  return python.pyimport("widgets.host");
}

onmessage = async ({ data: { run, name, knobs } }) => {
  latest = run;
  const { stream } = await host;
  if (!name || run !== latest) return;              // stopped, or a newer position arrived while Python was loading
  const frames = stream(name, knobs);
  try {
    for (const frame of frames) {
      postMessage({ run, frame });
      await new Promise((resume) => setTimeout(resume));        // a breath: newer positions get in here
      if (run !== latest) return;
    }
    postMessage({ run, done: true });
  } catch (error) {
    postMessage({ run, error: error.message });
  } finally {
    frames.destroy();
  }
};
