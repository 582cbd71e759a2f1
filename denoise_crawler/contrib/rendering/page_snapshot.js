// Returns the page as it is drawn: a copy of the document with a data-box (left top width height, CSS pixels) on
// each element that has an area, and `hidden` on what is not drawn. Open shadow roots stand in place of what they
// hide. The document itself stays as it is.
() => {
  const SILENT = new Set(["HEAD", "SCRIPT", "STYLE", "LINK", "META", "TITLE", "BASE", "AREA", "SOURCE", "TRACK"]);
  const LEFT_OUT = new Set(["NOSCRIPT", "TEMPLATE"]);
  const copies = document.implementation.createHTMLDocument("");
  const found = [];
  const slots = [];

  function childrenOf(element) {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName === "slot" && element.getRootNode() instanceof ShadowRoot) {
      const assigned = element.assignedNodes({ flatten: true });
      if (assigned.length) return assigned;
    }
    return element.childNodes;
  }

  function look(element, copy, above) {
    const style = getComputedStyle(element);
    const none = Boolean(above && above.none) || style.display === "none";
    const box = none ? null : element.getBoundingClientRect();
    copy.removeAttribute("data-box");
    if (box && box.width > 0 && box.height > 0) {
      const numbers = [box.left + scrollX, box.top + scrollY, box.width, box.height];
      copy.setAttribute("data-box", numbers.map(Math.round).join(" "));
    }
    const seen = { copy, above, none, drawn: !none && style.visibility === "visible" };
    found.push(seen);
    return seen;
  }

  const root = copies.importNode(document.documentElement, false);
  const waiting = [[document.documentElement, root, look(document.documentElement, root, null)]];
  while (waiting.length) {
    const [element, copy, seen] = waiting.pop();
    for (const child of childrenOf(element)) {
      if (child.nodeType === Node.TEXT_NODE) {
        copy.append(copies.createTextNode(child.data));
      } else if (child.nodeType === Node.ELEMENT_NODE && !LEFT_OUT.has(child.tagName)) {
        const own = copies.importNode(child, false);
        copy.append(own);
        if (child.localName === "slot" && child.getRootNode() instanceof ShadowRoot) slots.push(own);
        const silent = SILENT.has(child.tagName) || seen === null;
        waiting.push([child, own, silent ? null : look(child, own, seen)]);
      }
    }
  }
  for (const seen of found.slice().reverse()) {
    if (seen.drawn && seen.above) seen.above.drawn = true;
  }
  let hidden = 0;
  for (const { copy, above, drawn } of found) {
    copy.toggleAttribute("hidden", !drawn && (!above || above.drawn));
    hidden += copy.hasAttribute("hidden");
  }
  for (const slot of slots) slot.replaceWith(...slot.childNodes);
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  return { html: doctype + root.outerHTML, elements: found.length, hidden };
}
