// Amends to the theme: its notice is heard as well as seen.
document.querySelector(".md-dialog")?.setAttribute("role", "status");  // where it says that something was copied

// The theme swaps pages inside this one; a page of another build is loaded whole.
const style = new URL("style.css", import.meta.url).href;
new MutationObserver(() => {
  const now = document.head.querySelector("link[href*='/assets/style.css']")?.href;
  if (now && now !== style) location.reload();
}).observe(document.head, { childList: true });
