// pytest inside Pyodide, on this repository's files: node run.mjs ROOT SITE_PACKAGES. A line on standard input is a
// JSON list of arguments for pytest; the answer is what pytest prints, then a line with its status behind a NUL.
import fs from "node:fs";
import readline from "node:readline";
import { loadPyodide } from "../../site/vendor/pyodide/pyodide.mjs";

const [root, packages] = process.argv.slice(2);
const runtime = `${root}/site/vendor/pyodide/`;
const wheel = fs.readdirSync(runtime).find((name) => name.endsWith(".whl"));
const extractDir = "/lib/python3.14/site-packages";
const python = await loadPyodide({ indexURL: runtime, stdout: console.log, stderr: console.log });
python.unpackArchive(new Uint8Array(fs.readFileSync(runtime + wheel)), "whl", { extractDir });
python.mountNodeFS("/book", root);
python.mountNodeFS("/packages", packages);
const run = python.runPython(`
import os, sys
os.chdir("/book")
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
os.environ["NIGHTLY"] = ${JSON.stringify(process.env.NIGHTLY ?? "")}
sys.path.append("/packages")                      # after Pyodide's own, whose numpy comes first
sys.modules["scipy"] = None                       # what is there was compiled for another machine
sys.dont_write_bytecode = True
import pytest
lambda *words: int(pytest.main(["-p", "no:cacheprovider", "-q", "-rs", "--tb=short", *words]))
`);
for await (const line of readline.createInterface({ input: process.stdin })) {
  console.log(`\0${run(...JSON.parse(line))}`);
}
