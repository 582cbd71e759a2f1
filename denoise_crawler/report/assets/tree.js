"use strict";
const data = JSON.parse(document.getElementById("tree-data").textContent);
const pages = JSON.parse(document.getElementById("page-data").textContent);
const children = data.parents.map(() => []);
data.parents.forEach((parent, node) => { if (parent >= 0) children[parent].push(node); });
const tree = document.getElementById("tree"), about = document.getElementById("about");
const rows = new Map();  // node: its li, once it is made
const name = node => data.labels[data.names[node]];
const kept = node => data.peaks[node] >= data.threshold;
let chosen = -1;

function made(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}
function folds(node) { return children[node].length > 0 || data.left[node] > 0; }
function row(node, level) {
  const item = made("li"), line = made("div", "", "row " + (kept(node) ? "kept" : "noise") + (data.styles[node] ? " style" : ""));
  item.setAttribute("role", "treeitem");
  item.setAttribute("aria-level", level);
  item.setAttribute("aria-selected", "false");
  item.tabIndex = -1;
  item.dataset.node = node;
  const what = data.styles[node] ? `${data.counts[node]} × ` : "";
  line.append(made("span", folds(node) ? "▸" : "", "fold"), made("span", what + name(node), "name"));
  const measure = made("span", "", "measure");
  measure.style.setProperty("--share", data.importance[node]);
  line.append(measure, made("span", data.importance[node].toFixed(2), "importance"), made("span", `${data.counts[node]} of ${data.pages}`, "count"));
  const text = data.texts[node].length ? data.strings[data.texts[node][0]] : "";
  if (text && !children[node].some(child => data.texts[child][0] === data.texts[node][0])) line.append(made("span", text, "says"));
  item.setAttribute("aria-label", `${what}${name(node)}, ${kept(node) ? "kept" : "noise"}, importance ${data.importance[node].toFixed(2)}, on ${data.counts[node]} of ${data.pages} pages`);
  if (folds(node)) item.setAttribute("aria-expanded", "false");
  item.append(line);
  rows.set(node, item);
  return item;
}
function level(node) { let found = 1; for (let up = data.parents[node]; up >= 0; up = data.parents[up]) found++; return found; }
function unfold(node) {
  const item = rows.get(node);
  if (!folds(node) || item.getAttribute("aria-expanded") === "true") return;
  if (!item.querySelector(":scope > ul")) {
    const group = made("ul");
    group.setAttribute("role", "group");
    const below = level(node) + 1;
    group.append(...children[node].map(child => row(child, below)));
    if (data.left[node]) {
      const rest = made("li", `… ${data.left[node]} left out`, "rest");
      rest.setAttribute("role", "none");
      group.append(rest);
    }
    item.append(group);
  }
  item.setAttribute("aria-expanded", "true");
  item.querySelector(".fold").textContent = "▾";
}
function fold(node) {
  const item = rows.get(node);
  if (item.getAttribute("aria-expanded") !== "true") return;
  item.setAttribute("aria-expanded", "false");
  item.querySelector(".fold").textContent = "▸";
}
function reveal(node) {
  const above = [];
  for (let up = data.parents[node]; up >= 0; up = data.parents[up]) above.push(up);
  above.reverse().forEach(unfold);
}
function choose(node, focus) {
  if (chosen >= 0) { rows.get(chosen).setAttribute("aria-selected", "false"); rows.get(chosen).tabIndex = -1; }
  chosen = node;
  const item = rows.get(node);
  item.setAttribute("aria-selected", "true");
  item.tabIndex = 0;
  if (focus) item.focus({preventScroll: true});
  item.firstElementChild.scrollIntoView({block: "nearest"});
  tell(node);
}
function tell(node) {
  const style = data.styles[node], list = made("dl"), path = [];
  for (let up = node; up >= 0; up = data.parents[up]) if (!data.styles[up]) path.unshift(name(up));
  const add = (term, ...values) => { list.append(made("dt", term)); values.forEach(value => { const dd = made("dd"); dd.append(value); list.append(dd); }); };
  add("Verdict of the tree", made("span", kept(node) ? "kept" : "noise", "mark " + (kept(node) ? "kept" : "noise")));
  add("Importance", `${data.importance[node].toFixed(3)}; the highest in it ${data.peaks[node].toFixed(3)}`);
  add("How often", `on ${data.counts[node]} of ${data.pages} pages (${Math.round(100 * data.counts[node] / data.pages)} %)`);
  if (data.texts[node].length) add("What it says", ...data.texts[node].map(text => data.strings[text]));
  if (data.places[node].length) add("Where", ...data.places[node].map(number => {
    const page = pages[number - 1];
    if (!page || !page.file) return `page ${number}`;
    const link = made("a", page.title);
    link.href = page.file;
    return link;
  }));
  if (!style) add("Path", made("code", path.join(" > ")));
  about.replaceChildren(made("h2", style ? "Sequence of children" : name(node)), ...(style ? [made("p", name(node))] : []), list);
}
function shownRows() { return [...tree.querySelectorAll("[role=treeitem]")].filter(item => item.offsetParent !== null); }
function step(by) {
  const shown = shownRows(), at = shown.indexOf(rows.get(chosen)) + by;
  if (shown[at]) choose(+shown[at].dataset.node, true);
}
tree.addEventListener("click", event => {
  const item = event.target.closest("[role=treeitem]");
  if (!item || !event.target.closest(".row")) return;
  const node = +item.dataset.node;
  if (event.target.closest(".fold") || chosen === node) item.getAttribute("aria-expanded") === "true" ? fold(node) : unfold(node);
  choose(node, true);
});
tree.addEventListener("keydown", event => {
  const item = rows.get(chosen), open = item && item.getAttribute("aria-expanded");
  const keys = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1),
    ArrowRight: () => open === "false" ? unfold(chosen) : children[chosen].length && choose(children[chosen][0], true),
    ArrowLeft: () => open === "true" ? fold(chosen) : data.parents[chosen] >= 0 && choose(data.parents[chosen], true),
    Home: () => choose(0, true), End: () => { const shown = shownRows(); choose(+shown[shown.length - 1].dataset.node, true); },
    Enter: () => open === "true" ? fold(chosen) : unfold(chosen), " ": () => open === "true" ? fold(chosen) : unfold(chosen),
  };
  if (!item || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
});
function unfoldKept(atMost) {
  let shown = 1;
  const waiting = [0];
  while (waiting.length && shown < atMost) {
    const node = waiting.shift();
    if (!rows.get(node)) continue;
    unfold(node);
    shown += children[node].length;
    waiting.push(...children[node].filter(kept));
  }
}
const query = document.getElementById("query"), found = document.getElementById("found");
let matches = [], at = -1;
function search() {
  const wanted = query.value.trim().toLowerCase();
  matches = []; at = -1;
  if (wanted) for (let node = 0; node < data.parents.length; node++) {
    if (name(node).toLowerCase().includes(wanted) || data.texts[node].some(text => data.strings[text].toLowerCase().includes(wanted))) matches.push(node);
  }
  // a text stands in all elements around it: the innermost are what was looked for
  const inner = new Set(matches);
  matches.forEach(node => { if (!name(node).toLowerCase().includes(wanted)) for (let up = data.parents[node]; up >= 0; up = data.parents[up]) if (!name(up).toLowerCase().includes(wanted)) inner.delete(up); });
  matches = matches.filter(node => inner.has(node));
  found.textContent = wanted ? `${matches.length} found` : "";
}
function go(by) {
  if (!matches.length) return;
  at = (at + by + matches.length) % matches.length;
  reveal(matches[at]);
  choose(matches[at], false);
  rows.get(matches[at]).firstElementChild.scrollIntoView({block: "center"});
  found.textContent = `${at + 1} of ${matches.length}`;
}
let pending;
query.addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(() => { search(); go(1); }, 150); });
document.getElementById("search").addEventListener("submit", event => { event.preventDefault(); clearTimeout(pending); if (at < 0) search(); go(1); });
document.getElementById("previous").addEventListener("click", () => go(-1));
document.getElementById("unfold").addEventListener("click", () => unfoldKept(600));
document.getElementById("fold").addEventListener("click", () => { rows.forEach((item, node) => fold(node)); choose(0, false); });
if (data.parents.length) { tree.append(row(0, 1)); unfoldKept(40); rows.get(0).tabIndex = 0; }
