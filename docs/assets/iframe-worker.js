/* Pages that are opened from the disk may not start a worker; the search of the theme needs one. There a hidden frame stands in:
   it has a global object of its own, as a worker has, and messages go both ways as events. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = frame.contentDocument.createElement("script");
          script.src = new URL(source, location.href).href;
          script.onload = resolve;
          script.onerror = reject;
          frame.contentDocument.body.append(script);
        });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      this.inside = load(address).then(() => inside);
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
