// Browsers start no worker for a page that is opened as a file, and the search of the site is one. This runs it in a
// frame of the page. It does nothing where a server serves the site.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #inside;
    #ready;

    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.#inside = frame.contentWindow;
      const load = (from) =>
        new Promise((resolve, reject) => {
          const script = frame.contentDocument.createElement("script");
          script.src = from;
          script.onload = resolve;
          script.onerror = () => reject(new Error(`${from} cannot be loaded`));
          frame.contentDocument.body.append(script);
        });
      this.#inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.#inside.importScripts = (...all) => all.reduce((done, one) => done.then(() => load(one)), Promise.resolve());
      this.#ready = load(new URL(address, document.baseURI));
      this.#ready.catch((error) => this.dispatchEvent(new ErrorEvent("error", { error })));
    }

    postMessage(data) {
      this.#ready.then(() => this.#inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
