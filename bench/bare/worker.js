// The least a page can do with Pyodide and numpy: what the book is measured against.
import { loadPyodide } from "../vendor/pyodide/pyodide.mjs";

const ready = loadPyodide({ packages: ["numpy"] }).then((python) => python.runPython(`
import numpy as np
def histogram(scale):
    return np.histogram(np.random.default_rng(0).normal(size=100_000) * scale, bins=60, range=(-6, 6))[0].tolist()
histogram`));

onmessage = async ({ data }) => {
  const counts = (await ready)(data);
  postMessage(counts.toJs());
  counts.destroy();
};
