"use strict";
const NODE = "data-node", CHOSEN = "data-denoise-chosen";
const panes = document.getElementById("panes"), why = document.getElementById("why");
const frame = document.getElementById("frame");
const buttons = [...document.querySelectorAll("#block-list button")];
const byNode = new Map();
buttons.forEach(button => { if (!byNode.has(button.dataset.node)) byNode.set(button.dataset.node, button); });
let chosen = null;

document.querySelectorAll("[data-pane]").forEach(button => {
  const show = () => {
    panes.dataset.shown = button.dataset.pane;
    document.querySelectorAll("[data-pane]").forEach(other => other.setAttribute("aria-pressed", String(other === button)));
    paint(button.dataset.pane !== "original");
  };
  button.addEventListener("click", show);
  button.setAttribute("aria-pressed", String(button.dataset.pane === panes.dataset.shown));
});
document.getElementById("only").addEventListener("change", event => {
  document.getElementById("block-list").dataset.only = event.target.value;
});
function tell(button) {
  if (chosen === button) return;
  if (chosen) chosen.removeAttribute("aria-current");
  chosen = button;
  button.setAttribute("aria-current", "true");
  why.replaceChildren(...[...button.children].map(part => part.cloneNode(true)));
  why.className = "why " + button.parentElement.className;
}
function paint(on) {  // one document: its paint is a style sheet that is turned off, so both scroll as one
  for (const sheet of frame && frame.contentDocument ? frame.contentDocument.styleSheets : [])
    if (sheet.ownerNode.textContent.includes("--denoise-ink")) sheet.disabled = !on;
}
function mark(node, scroll) {
  const inside = frame && frame.contentDocument;
  if (!inside) return;
  inside.querySelectorAll(`[${CHOSEN}]`).forEach(old => old.removeAttribute(CHOSEN));
  const element = inside.querySelector(`[${NODE}="${node}"]`);
  if (!element) return;
  element.setAttribute(CHOSEN, "");
  if (scroll) bring(element);
}
function bring(element) {
  const box = element.getBoundingClientRect(), view = element.ownerDocument.defaultView;
  view.scrollTo({top: view.scrollY + box.top - view.innerHeight / 6, left: 0});
}
buttons.forEach(button => button.addEventListener("click", () => { tell(button); mark(button.dataset.node, true); }));
function blockOf(target) {
  const own = target.closest && target.closest(`[${NODE}]`);
  if (!own) return null;
  for (const element of [own, ...own.querySelectorAll(`[${NODE}]`)]) {
    const button = byNode.get(element.getAttribute(NODE));
    if (button) return button;
  }
  for (let up = own; up; up = up.parentElement) {
    const button = byNode.get(up.getAttribute(NODE));
    if (button) return button;
  }
  return null;
}
function begin() {
  const inside = frame.contentDocument;
  if (!inside || !inside.body) return;
  const style = inside.createElement("style");
  style.textContent = `:is(#_,[${CHOSEN}]){outline:3px dashed #7a00cc!important;outline-offset:2px!important}#denoise-legend{display:none!important}`;
  inside.head.append(style);
  let waiting = 0;
  inside.addEventListener("mouseover", event => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { const button = blockOf(event.target); if (button) { tell(button); mark(button.dataset.node, false); } }, 60);
  });
  inside.addEventListener("click", event => {
    event.preventDefault();
    const button = blockOf(event.target);
    if (button) { tell(button); mark(button.dataset.node, false); }
  }, true);
  inside.addEventListener("submit", event => event.preventDefault(), true);
  showFirstKept(inside);
}
function showFirstKept(inside) {
  const drawn = [...document.querySelectorAll("#block-list .kept button")].map(button => inside.querySelector(`[${NODE}="${button.dataset.node}"]`));
  const first = drawn.find(element => element && element.getClientRects().length);
  if (first) bring(first);
}
if (frame) {
  const inside = frame.contentDocument;
  if (inside && inside.readyState === "complete" && inside.querySelector("#denoise-legend")) begin();
  else frame.addEventListener("load", begin, {once: true});
}
