// Python as the build left it: the memory of an interpreter with numpy and our modules, written into a new one once
// numpy's libraries are linked where they were. Where one differs (another engine) this throws.
const VENDOR = globalThis.vendor ?? new URL("../vendor/", import.meta.url).href;

// The same for maker and reader: it lies in the memory. It leaves out docstrings, a megabyte packed, and the columns of
// tracebacks, 0.8 more, which are shown with source lines alone, and those are in no snapshot.
export const OPTIONS = {
  indexURL: `${VENDOR}pyodide/`,
  env: {
    HOME: "/home/pyodide",
    LANG: "C.UTF-8",
    PYTHONHASHSEED: "0",
    PYTHONOPTIMIZE: "2",
    PYTHONNODEBUGRANGES: "1",
  },
};
const NO_LIBRARY = "data:,";  // for the standard library: what is imported needs no files

// `core` is the module pyodide.asm.mjs, on its way.
export async function restored(loadPyodide, core) {
  const record = await fetch(`${VENDOR}snapshot.json`).then((answer) => answer.json());
  if (!record.pack) throw new Error("this build has no snapshot");
  const packed = unpacked(VENDOR + record.pack, record.total);
  packed.catch(() => {});  // a failure counts where it is awaited, below
  const python = await loadPyodide({
    ...OPTIONS,
    stdLibURL: NO_LIBRARY,
    lockFileContents: record.lock,
    _loadSnapshot: new Uint8Array(record.head),
    createPyodideModule: (settings) => filled(settings, core, record, packed),
  });
  python.runPython("import random; random.seed()");  // its state is the maker's
  return python;
}

// A fresh instance with the snapshot's libraries and memory; what Pyodide restores after this is a head without one.
async function filled(settings, core, record, packed) {
  const instance = core.then(({ default: create }) => create(settings));
  const compiled = packed.then((pack) => Promise.all(record.libraries.map(
    ({ at, size }) => WebAssembly.compile(pack.subarray(at, at + size)),
  )));
  const [fresh, pack, libraries] = await Promise.all([instance, packed, compiled]);
  link(fresh, record, libraries);
  let from = 0;
  for (const [at, length] of record.stored) {
    fresh.HEAPU8.set(pack.subarray(from, from + length), at);
    from += length;
  }
  return fresh;
}

// What a gzip file holds; the page hears of its bytes as they pass.
async function unpacked(address, total) {
  let loaded = 0;
  const counted = new TransformStream({
    transform(chunk, out) {
      loaded += chunk.byteLength;
      postMessage({ loaded, total });
      out.enqueue(chunk);
    },
  });
  const answer = await fetch(address);
  const plain = answer.body.pipeThrough(counted).pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

function same(what, now, then) {
  if (now !== then) throw new Error(`${what} is ${now}, not ${then} as in the snapshot`);
}

// The libraries into a fresh instance, exactly where the maker's had them.
export function link(fresh, { heap, table, tableAfter, free, libraries }, compiled) {
  fresh.growMemory(heap);
  same("the memory", fresh.HEAPU8.length, heap);
  same("the table", fresh.wasmTable.length, table);
  libraries.forEach((library, i) => linkOne(fresh, library, compiled[i]));
  delete fresh.placed;
  fresh.freeTableIndexes.splice(0, Infinity, ...free);
  same("the table after linking", fresh.wasmTable.length, tableAfter);
}

function linkOne(fresh, { path, address, slot, free, global, handles }, compiled) {
  if (fresh.wasmTable.length < slot) fresh.wasmTable.grow(slot - fresh.wasmTable.length);
  fresh.freeTableIndexes.splice(0, Infinity, ...free);
  fresh.placed = () => {
    same(path, fresh.wasmTable.length, slot);
    return address;
  };
  const library = fresh.newDSO(path, undefined, "loading");
  library.exports = fresh.loadWebAssemblyModule(compiled, {}, path, {});
  library.global = global;
  for (const handle of handles) fresh.LDSO.loadedLibsByHandle[handle] = library;
}
