// Before a page is drawn: whether the reader keeps the column of all knobs open.
try {
  if (localStorage.getItem("all-knobs") === "true") document.documentElement.dataset.column = "";
} catch { /* nothing is kept here */ }
// What an address asks of it: the widget alone (?embed), no breaks offered (?breaks=hidden).
for (const [name, value] of new URLSearchParams(location.search)) {
  if (name === "embed" || name === "breaks") document.documentElement.dataset[name] = value;
}
