// The files that were dropped, and of folders what may be a log or completions.
const READ = /\.(parquet|jsonl|csv|log|out)$|^trainer_state\.json$/;
const PASSED = /^(\.|checkpoint-)/;  // folders
const asked = (ask) => new Promise(ask);

export async function dropped({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory);
  if (!entries.length) return [...files];
  const plain = [...files].filter(({ name }) => !entries.some((entry) => entry.name === name));
  return [...plain, ...(await Promise.all(entries.map(within))).flat()];
}

async function within(folder) {
  const reader = folder.createReader();
  const all = [];
  for (let some; (some = await asked((took, failed) => reader.readEntries(took, failed))).length;) all.push(...some);
  const kept = all.filter(({ isFile, name }) => isFile ? READ.test(name) : !PASSED.test(name));
  const files = kept.map((entry) => (entry.isFile ? asked(entry.file.bind(entry)) : within(entry)));
  return (await Promise.all(files)).flat();
}
