// The theme puts a bar with a button on each code block; each bar gets a name of its own.
"use strict";
new MutationObserver(() => document.querySelectorAll(".md-code__nav").forEach((bar, number) =>
  bar.setAttribute("aria-label", `Code block ${number + 1}`))).observe(document.body, {childList: true, subtree: true});
