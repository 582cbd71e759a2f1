// The search of the theme runs in a Worker, which browsers refuse to pages on disk. There, a hidden frame runs it.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const at = new URL(address, location.href);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const load = source => new Promise((loaded, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, {src: new URL(source, at), onload: loaded, onerror: failed, async: false});
        inside.document.body.append(script);
      });
      inside.importScripts = (...sources) => Promise.all(sources.map(load));
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
      this.tell = data => inside.dispatchEvent(new MessageEvent("message", {data}));
      this.ready = load(at);
    }
    postMessage(data) { this.ready.then(() => this.tell(data)); }
    terminate() {}
  };
}
