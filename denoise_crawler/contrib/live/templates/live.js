"use strict";
const now = document.getElementById("now"), state = document.getElementById("state"), pause = document.getElementById("pause");
let paused = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  state.textContent = paused ? "Paused." : "Renewed every two seconds.";
});
async function renew() {
  if (!paused && !document.hidden) try {
    const answer = await fetch("/denoise/now", {cache: "no-store"});
    if (!answer.ok) throw new Error(answer.status);
    const html = await answer.text(), focused = document.activeElement;
    const selector = now.contains(focused) ? (focused.getAttribute("href") ? `a[href="${focused.getAttribute("href")}"]` : `[aria-labelledby="${focused.getAttribute("aria-labelledby")}"]`) : null;
    now.innerHTML = html;
    if (selector && now.querySelector(selector)) now.querySelector(selector).focus({preventScroll: true});
  } catch (error) {
    state.textContent = "The crawl does not answer: it has ended, or is busy. What you see is the last answer.";
  }
  setTimeout(renew, 2000);
}
setTimeout(renew, 2000);
