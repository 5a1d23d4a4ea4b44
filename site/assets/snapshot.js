// Python as the build left it: the memory of an interpreter that has imported numpy and our own modules, written into a new one.
// Memory is not all there is: numpy's compiled libraries are linked again first, each at the address and the table slot it had.
// Where one of them differs (another engine, files of another build) this throws, and the caller loads Python plainly.
const VENDOR = new URL("../vendor/", import.meta.url).href;

// What the maker and the reader must have in common: the environment lies in the memory, and its length moves what follows.
// PYTHONOPTIMIZE leaves the docstrings out, which nobody reads here: a megabyte.
export const OPTIONS = { indexURL: `${VENDOR}pyodide/`, env: { HOME: "/home/pyodide", LANG: "C.UTF-8", PYTHONHASHSEED: "0", PYTHONOPTIMIZE: "2" } };
export const NO_LIBRARY = "data:,";                 // in place of the standard library's archive: what is imported needs no files

export async function restored(loadPyodide) {
  const module = import(`${VENDOR}pyodide/pyodide.asm.mjs`);
  const record = await fetch(`${VENDOR}snapshot.json`).then((answer) => answer.json());
  if (!record.pack) throw new Error("this build has no snapshot");
  const packed = unpacked(VENDOR + record.pack, record.total);
  packed.catch(() => {});                           // awaited below, where a failure counts; it may come before the module does
  const python = await loadPyodide({
    ...OPTIONS, stdLibURL: NO_LIBRARY, lockFileContents: record.lock, _loadSnapshot: new Uint8Array(record.head),
    async createPyodideModule(settings) {
      const compiled = packed.then((pack) => Promise.all(record.libraries.map(({ at, size }) => WebAssembly.compile(pack.subarray(at, at + size)))));
      const [fresh, pack, libraries] = await Promise.all([module.then(({ default: create }) => create(settings)), packed, compiled]);
      link(fresh, record, libraries);
      let from = 0;
      for (const [at, length] of record.stored) fresh.HEAPU8.set(pack.subarray(from, (from += length)), at);
      return fresh;                                 // what Pyodide restores after this is a head without a memory
    },
  });
  python.runPython("import random; random.seed()");        // its state is the maker's
  return python;
}

// What a gzip file holds; the page hears of its bytes as they pass, so that a slow network sees how far it is.
async function unpacked(address, total) {
  let loaded = 0;
  const counted = new TransformStream({ transform(chunk, out) { out.enqueue(chunk); postMessage({ loaded: (loaded += chunk.byteLength), total }); } });
  const answer = await fetch(address);
  return new Uint8Array(await new Response(answer.body.pipeThrough(counted).pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

// The compiled libraries into a fresh instance, exactly where the maker's instance had them.
export function link(fresh, { heap, table, tableAfter, free, libraries }, compiled) {
  const same = (what, now, then) => { if (now !== then) throw new Error(`${what} is ${now}, not ${then} as in the snapshot`); };
  fresh.growMemory(heap);
  same("the memory", fresh.HEAPU8.length, heap);
  same("the table", fresh.wasmTable.length, table);
  libraries.forEach(({ path, address, slot, free, global, handles }, i) => {
    if (fresh.wasmTable.length < slot) fresh.wasmTable.grow(slot - fresh.wasmTable.length);
    fresh.freeTableIndexes.splice(0, Infinity, ...free);
    fresh.placed = () => { same(path, fresh.wasmTable.length, slot); return address; };
    const library = fresh.newDSO(path, undefined, "loading");
    Object.assign(library, { global, exports: fresh.loadWebAssemblyModule(compiled[i], {}, path, {}) });
    for (const handle of handles) fresh.LDSO.loadedLibsByHandle[handle] = library;
  });
  delete fresh.placed;
  fresh.freeTableIndexes.splice(0, Infinity, ...free);
  same("the table after linking", fresh.wasmTable.length, tableAfter);
}
