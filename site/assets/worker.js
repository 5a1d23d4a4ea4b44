// Python's half of a widget: one interpreter a visit, one generator a knob position, newest run wins. A worker named
// "reader_worker" runs readers' code, with nothing that leads out of it.
import { loadPyodide } from "../vendor/pyodide/pyodide.mjs";
import { restored } from "./snapshot.js";

let latest = 0;

async function started() {
  const [python, how] = await restored(loadPyodide).then((python) => [python, "snapshot"], plainly);
  const module = python.pyimport(`widgets.frame.${self.name || "host"}`);
  if (self.name) (await import("./bare.js")).strip(python);
  postMessage({ ready: true, how });
  return module;
}

// Without a snapshot, or in an engine that it does not fit: three times as slow.
async function plainly(error) {
  console.info(`Python starts without a snapshot: ${error.message}`);
  postMessage({ loaded: 0 });
  const archive = fetch(new URL("../vendor/python.zip", import.meta.url)).then((answer) => answer.arrayBuffer());
  const python = await loadPyodide({ packages: ["numpy"] });
  python.unpackArchive(await archive, "zip");
  return [python, "plain"];
}

const host = started();
host.catch((error) => postMessage({ failed: error.message }));

onmessage = async ({ data }) => {
  if (data.table) return postMessage({ table: (await host).table(data.name, data.table) });
  latest = data.run;
  if (data.name) play(data);
};

const later = setTimeout;
const breath = () => new Promise((resume) => later(resume));  // newer positions get in here

async function play({ run, name, knobs }) {
  const frames = (await host).stream(name, knobs);
  try {
    await breath();
    while (run === latest) {
      const { value: frame, done } = frames.next();
      postMessage(done ? { run, done } : { run, frame });
      if (done) return;
      await breath();
    }
  } catch (error) {
    postMessage({ run, error: error.message });
  } finally {
    frames.destroy();
  }
}
