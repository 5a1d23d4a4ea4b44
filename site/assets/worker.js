// Python's half of a widget: one interpreter a visit, one generator a knob position, newest run wins.
import { loadPyodide } from "../vendor/pyodide/pyodide.mjs";
import { complete, restored } from "./snapshot.js";

let latest = 0, loaded = 0, total;                  // bytes of the runtime's files, for the word beside the widget only

// Every byte of the runtime passes here once, so that a slow network sees how far it is.
const plainFetch = fetch;
self.fetch = async (...request) => {
  const response = await plainFetch(...request);
  if (!response.body) return response;
  const counted = response.body.pipeThrough(new TransformStream({ transform(chunk, out) {
    out.enqueue(chunk);
    loaded += chunk.byteLength;
    if (total) postMessage({ loaded, total });
  } }));
  return new Response(counted, { status: response.status, headers: response.headers });
};

const archive = plainFetch(new URL("../vendor/python.zip", import.meta.url)).then((answer) => answer.arrayBuffer());
let how = "snapshot", lacking;                     // lacking: the library's files that the snapshot left for later
const host = restored(loadPyodide, (bytes) => (total = bytes)).catch(plainly).then(async (python) => {
  self.fetch = plainFetch;
  python.unpackArchive(await archive, "zip");
  if (how === "snapshot") lacking = complete(python).catch(() => {}).then(() => { lacking = undefined; });
  return python.pyimport("widgets.host");
});

// Without a snapshot, or in an engine that it does not fit: three times as slow, and otherwise the same.
function plainly(error) {
  console.info(`Python starts without a snapshot: ${error.message}`);
  [how, loaded, total] = ["plain", 0, 15.4e6];
  return loadPyodide({ packages: ["numpy"] });
}

onmessage = async ({ data }) => {
  if (data.asked) return host.then(() => postMessage({ ready: true, how }), (error) => postMessage({ failed: error.message }));
  latest = data.run;
  await host;
  if (data.name) play(data);
};

async function play({ run, name, knobs }) {
  if (run !== latest) return;                       // a newer position arrived while Python was loading
  const frames = (await host).stream(name, knobs);
  try {
    for (const frame of frames) {
      postMessage({ run, frame });
      await new Promise((resume) => setTimeout(resume));        // a breath: newer positions get in here
      if (run !== latest) return;
    }
    postMessage({ run, done: true });
  } catch (error) {
    if (!lacking) return postMessage({ run, error: error.message });
    await lacking;                                  // an import came before its file: once more, with everything there
    play({ run, name, knobs });
  } finally {
    frames.destroy();
  }
}
