/* Browsers start no worker for a page that is opened from the disk: there, the search's worker runs
 * in a hidden frame. The theme would fetch such a stand-in from another host; the name of this file
 * tells it that there is one. */
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.appendChild(frame);
    const inside = frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.started = new Promise((resolve) => {
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      script.onload = () => resolve(inside);
      frame.contentDocument.body.appendChild(script);
    });
  }

  postMessage(data) {
    this.started.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = FrameWorker;
}
