"use strict";
const NODE = "data-node", CHOSEN = "data-denoise-chosen";
const panes = document.getElementById("panes"), why = document.getElementById("why");
const painted = document.getElementById("frame-painted"), original = document.getElementById("frame-original");
const buttons = [...document.querySelectorAll("#block-list button")];
const byNode = new Map();
buttons.forEach(button => { if (!byNode.has(button.dataset.node)) byNode.set(button.dataset.node, button); });
let chosen = null;

document.querySelectorAll("[data-pane]").forEach(button => {
  const show = () => {
    panes.dataset.shown = button.dataset.pane;
    document.querySelectorAll("[data-pane]").forEach(other => other.setAttribute("aria-pressed", String(other === button)));
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
function documents() { return [painted, original].filter(Boolean).map(frame => frame.contentDocument).filter(Boolean); }
function mark(node, scroll) {
  documents().forEach(inside => {
    inside.querySelectorAll(`[${CHOSEN}]`).forEach(old => old.removeAttribute(CHOSEN));
    const element = inside.querySelector(`[${NODE}="${node}"]`);
    if (!element) return;
    element.setAttribute(CHOSEN, "");
    const box = element.getBoundingClientRect(), view = inside.defaultView;
    if (scroll) view.scrollTo({top: view.scrollY + box.top - view.innerHeight / 3, left: 0});
  });
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
function listen(frame) {
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
}
function unpainted() {
  const copy = painted.contentDocument.documentElement.cloneNode(true);
  const paint = [...copy.querySelectorAll("style")].filter(style => style.textContent.includes("--denoise-line"));
  paint.forEach(style => style.remove());
  copy.querySelectorAll("#denoise-legend").forEach(legend => legend.remove());
  copy.querySelectorAll("[data-denoise]").forEach(region => { region.removeAttribute("data-denoise"); region.removeAttribute("data-denoise-joins"); region.removeAttribute("title"); });
  return (painted.contentDocument.doctype ? "<!DOCTYPE html>" : "") + copy.outerHTML;
}
function begin() {
  original.addEventListener("load", () => listen(original), {once: true});
  original.srcdoc = unpainted();
  listen(painted);
}
if (painted) {
  const inside = painted.contentDocument;
  if (inside && inside.readyState === "complete" && inside.querySelector("#denoise-legend")) begin();
  else painted.addEventListener("load", begin, {once: true});
}
