// Of the differences between any two files, those about the two that run or were just chosen.
function show({ a, b }) {
  for (const one of document.querySelectorAll("[data-of]")) {
    const runs = (names) => names.includes(a) || names.includes(b);
    one.classList.toggle("now", JSON.parse(one.dataset.of).every(runs));
  }
}

addEventListener("drawn", ({ detail }) => show(detail));
document.addEventListener("input", ({ target: { form } }) => {
  if (form?.elements.a) show(Object.fromEntries(new FormData(form)));
});
