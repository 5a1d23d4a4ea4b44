// What an address asks of a page before it is drawn: the widget alone (?embed), no breaks offered (?breaks=hidden).
for (const [name, value] of new URLSearchParams(location.search)) {
  if (name === "embed" || name === "breaks") document.documentElement.dataset[name] = value;
}
