// pytest inside Pyodide, on this repository's files: node run.mjs ROOT SITE_PACKAGES pytest-arguments…
import fs from "node:fs";
import { loadPyodide } from "../../site/vendor/pyodide/pyodide.mjs";

const [root, packages, ...words] = process.argv.slice(2);
const runtime = `${root}/site/vendor/pyodide/`;
const wheel = fs.readdirSync(runtime).find((name) => name.endsWith(".whl"));
const python = await loadPyodide({ indexURL: runtime, stdout: console.log, stderr: console.log });
const numpy = new Uint8Array(fs.readFileSync(runtime + wheel));
python.unpackArchive(numpy, "whl", { extractDir: "/lib/python3.14/site-packages" });
python.mountNodeFS("/book", root);
python.mountNodeFS("/packages", packages);
python.globals.set("words", python.toPy(words));
process.exitCode = python.runPython(`
import os, sys
os.chdir("/book")
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
sys.path.append("/packages")                      # after Pyodide's own, whose numpy comes first
sys.modules["scipy"] = None                       # what is there was compiled for another machine
sys.dont_write_bytecode = True
import pytest
int(pytest.main(["-p", "no:cacheprovider", "-q", "-rs", "--tb=short", *words]))
`);
