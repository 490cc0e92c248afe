// The step player: a traced step over its placed graph. It has the whole scene from the beginning
// (plots/player/payload.py says what is in it) and asks the kernel for nothing while it plays.

const SCREEN = 600; // pixels of picture and lanes: with what stands around them no more than a screen
const KEYS = "Space plays and pauses; arrows go to the next and last event; Home and End; plus, minus and 0 zoom.";

/** The whole widget: what it shows, and how it is driven. */
class Player {
  constructor(model, root, data) {
    this.model = model;
    this.root = root;
    this.scene = new Scene(data);
    this.alike = this.scene.uneven;
    this.axis = new Axis(this.scene, this.alike);
    this.place = this.axis.place(model.get("moment") || 0);
    this.isPlaying = false;
    this.speed = 1;
    this.follows = true;
    this.selected = -1;
    this.lastFrame = 0;
    this.frames = [];
    this.reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.undo = new AbortController();
    this.build();
    this.picture = new Picture(this.scene, this.canvas);
    this.strip = new Strip(this.scene, this.lanes);
    this.picture.tallest = clamp(SCREEN - this.strip.height, 280, TALLEST);
    this.root.style.setProperty("--tfd-lane", `${this.strip.lane}px`);
    this.listen();
    this.resize();
  }
  get time() {
    return this.axis.time(this.place);
  }

  build() {
    const { root, scene } = this;
    root.classList.add("tfdist-player");
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "step player");
    root.tabIndex = 0;
    root.dataset.lmSuppressShortcuts = "true"; // JupyterLab has keys of its own
    const bar = make("div", "tfd-bar");
    this.playButton = make("button", "tfd-play", { type: "button", "aria-label": "play" }, "▶ Play");
    this.backButton = make("button", "", { type: "button", "aria-label": "to the event before", title: "event before (←)" }, "‹");
    this.nextButton = make("button", "", { type: "button", "aria-label": "to the next event", title: "next event (→)" }, "›");
    this.speeds = this.choice("speed", [["0.25", "¼ ×"], ["0.5", "½ ×"], ["1", "1 ×"], ["2", "2 ×"], ["4", "4 ×"]], "1");
    this.modes = this.choice("length of events on the slider", [["event", "by event"], ["time", "by time"]], this.alike ? "event" : "time");
    this.out = make("button", "", { type: "button", "aria-label": "zoom out", title: "zoom out (−)" }, "−");
    this.whole = make("button", "", { type: "button", "aria-label": "fit the picture", title: "fit (0)" }, "Fit");
    this.in = make("button", "", { type: "button", "aria-label": "zoom in", title: "zoom in (+)" }, "+");
    this.freezer = make("button", "tfd-freeze", { type: "button", title: "keep this moment as a picture in the notebook" }, "Freeze");
    this.freezer.hidden = !this.model.send; // nobody is there who would keep it
    bar.append(this.playButton, this.backButton, this.nextButton, this.speeds, this.modes,
      make("span", "tfd-space"), this.out, this.whole, this.in, this.freezer);
    const stage = make("div", "tfd-stage");
    this.canvas = make("canvas", "tfd-graph", { role: "img", "aria-label": this.model.get("sentence") });
    this.tip = make("div", "tfd-tip", { role: "status" });
    this.tip.hidden = true;
    stage.append(this.canvas, this.tip);
    this.caption = make("div", "tfd-caption", { "aria-live": "polite" });
    const track = make("div", "tfd-track"), names = make("div", "tfd-names", { "aria-hidden": "true" });
    for (const device of scene.devices) {
      const name = make("div", "tfd-name", { title: device.whole });
      name.append(make("i", "", { style: `background:${device.colour}` }), document.createTextNode(device.name));
      names.append(name);
    }
    const timeline = make("div", "tfd-timeline");
    this.lanes = make("canvas", "tfd-lanes", { "aria-hidden": "true" });
    this.slider = make("input", "tfd-slider", { type: "range", min: "0", max: "1", step: "any", value: "0", "aria-label": "moment in the step" });
    timeline.append(this.lanes, this.slider);
    track.append(names, timeline);
    const legend = make("div", "tfd-legend");
    for (const [name, text] of [["computes", "computes"], ["receives", "receives a tensor"], ["waits", "waits"], ["tick", "a node starts"]]) {
      const each = make("span");
      each.append(make("i", `tfd-key-${name}`, { "aria-hidden": "true" }), document.createTextNode(text));
      legend.append(each);
    }
    for (const note of scene.notes) legend.append(make("span", "tfd-note", {}, note));
    root.append(bar, stage, this.caption, track, legend);
    root.title = "";
    root.setAttribute("aria-description", KEYS);
  }
  choice(label, options, value) {
    const found = make("select", "", { "aria-label": label, title: label });
    for (const [name, text] of options) found.append(make("option", "", { value: name }, text));
    found.value = value;
    return found;
  }

  listen() {
    const signal = this.undo.signal, on = (target, name, call, options = {}) => target.addEventListener(name, call, { signal, ...options });
    on(this.playButton, "click", () => this.toggle());
    on(this.backButton, "click", () => this.step(-1));
    on(this.nextButton, "click", () => this.step(1));
    on(this.speeds, "change", () => (this.speed = Number(this.speeds.value)));
    on(this.modes, "change", () => this.setMode(this.modes.value === "event"));
    on(this.out, "click", () => this.zoom(1 / 1.3));
    on(this.in, "click", () => this.zoom(1.3));
    on(this.whole, "click", () => this.fit());
    on(this.freezer, "click", () => this.freeze());
    on(this.slider, "input", () => { this.pause(); this.go(Number(this.slider.value)); });
    on(this.slider, "change", () => this.tell());
    on(this.root, "keydown", (event) => this.key(event));
    on(this.canvas, "wheel", (event) => this.wheel(event), { passive: false });
    on(this.canvas, "pointerdown", (event) => this.grab(event));
    on(this.canvas, "pointermove", (event) => this.hover(event));
    on(this.canvas, "pointerleave", () => this.leave());
    on(this.reduced, "change", () => this.redraw());
    this.unwatch = onTheme(() => this.recolour());
    this.sizer = new ResizeObserver(() => this.resize());
    this.sizer.observe(this.root);
  }
  close() {
    this.pause();
    this.undo.abort();
    this.unwatch();
    this.sizer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  resize() {
    const width = this.canvas.parentElement.clientWidth;
    if (!width || width === this.picture.width) return;
    this.picture.resize(width);
    this.strip.resize(this.lanes.parentElement.clientWidth);
    this.recolour();
  }
  recolour() {
    this.colours = readColours(this.root);
    this.picture.layerKeys = ["", ""];
    this.strip.draw(this.axis, this.colours);
    this.redraw();
  }
  setMode(alike) {
    const time = this.time;
    this.alike = alike;
    this.axis = new Axis(this.scene, alike);
    this.strip.draw(this.axis, this.colours);
    this.go(this.axis.place(time));
  }
  zoom(factor, x, y) {
    this.picture.zoom(factor, x, y);
    this.redraw();
  }
  fit() {
    this.follows = true;
    this.picture.fit();
    this.redraw();
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }
  play() {
    if (this.place >= 1) this.go(0);
    this.isPlaying = true;
    this.follows = true;
    this.lastFrame = 0;
    this.frames = [];
    this.showPlaying();
    this.request();
  }
  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.showPlaying();
    this.tell();
    this.request();
  }
  showPlaying() {
    this.playButton.textContent = this.isPlaying ? "❚❚ Pause" : "▶ Play";
    this.playButton.setAttribute("aria-label", this.isPlaying ? "pause" : "play");
    this.root.dataset.playing = this.isPlaying;
    this.caption.setAttribute("aria-live", this.isPlaying ? "off" : "polite");
  }
  /** Go to a place on the slider; nothing cools down from where it was. */
  go(place) {
    this.place = clamp(place, 0, 1);
    this.redraw();
  }
  /** Go to the middle of the next stretch between two events, or of the one before. */
  step(direction) {
    this.pause();
    const ticks = this.scene.ticks, count = ticks.length - 1;
    const i = clamp(lastNotAfter(ticks, this.time), 0, count - 1) + direction;
    if (i < 0 || i >= count) this.go(i < 0 ? 0 : 1);
    else this.go(this.axis.place((ticks[i] + ticks[i + 1]) / 2));
    this.tell();
  }
  /** Tell the kernel which moment is shown, for the picture that will stay; it need not answer. */
  tell() {
    this.model.set("moment", this.time);
    this.model.set("ground", this.root.dataset.ground);
    this.model.save_changes();
  }
  freeze() {
    this.pause();
    this.tell();
    askToFreeze(this.model, this.freezer, { do: "freeze", moment: this.time }); // behind what `tell` has set
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const button = event.target.tagName === "BUTTON";
    const calls = {
      " ": button ? null : () => this.toggle(),
      ArrowRight: () => this.step(1), ArrowUp: () => this.step(1),
      ArrowLeft: () => this.step(-1), ArrowDown: () => this.step(-1),
      Home: () => { this.pause(); this.go(0); this.tell(); },
      End: () => { this.pause(); this.go(1); this.tell(); },
      PageDown: () => { this.pause(); this.go(this.place + 0.1); this.tell(); },
      PageUp: () => { this.pause(); this.go(this.place - 0.1); this.tell(); },
      "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), 0: () => this.fit(),
    };
    const call = calls[event.key];
    if (!call) return;
    event.preventDefault();
    call();
  }
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    this.follows = false;
    this.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  }
  grab(event) {
    if (event.button || !this.picture.overflows) return;
    this.held = [event.clientX, event.clientY];
    this.canvas.setPointerCapture(event.pointerId);
    const drop = () => { this.held = null; };
    this.canvas.addEventListener("pointerup", drop, { once: true });
    this.canvas.addEventListener("pointercancel", drop, { once: true });
  }
  hover(event) {
    if (this.held) {
      this.follows = false;
      this.picture.pan(event.clientX - this.held[0], event.clientY - this.held[1]);
      this.held = [event.clientX, event.clientY];
      this.redraw();
      return;
    }
    const found = this.picture.boxAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = this.picture.overflows ? "grab" : "default";
    if (found !== this.selected) {
      this.selected = found;
      this.describe(found);
      this.redraw();
    }
    if (found >= 0) placeTip(this.tip, event.offsetX, event.offsetY, this.picture.width, this.picture.height);
  }
  leave() {
    this.selected = -1;
    this.tip.hidden = true;
    this.redraw();
  }
  /** Tell all that is known of a box: node, op, device, times, bytes. */
  describe(i) {
    this.tip.hidden = i < 0;
    if (i < 0) return;
    const { scene } = this, box = scene.boxes[i], { events } = scene;
    this.tip.replaceChildren(make("b", "", {}, box.title), make("div", "", {},
      `${box.below} on ${box.devices.map((each) => scene.devices[each].name).join(", ")}`));
    const found = scene.eventsOf[i].slice().sort((a, b) => scene.start[a] - scene.start[b]);
    const now = found.findIndex((event) => scene.end[event] > this.time);
    const first = clamp(now < 0 ? found.length - 6 : now - 2, 0, Math.max(found.length - 6, 0));
    for (const event of found.slice(first, first + 6)) {
      const size = events.bytes[event] ? `, ${bytesText(events.bytes[event])}` : "";
      const times = `${durationText(scene.start[event])} to ${durationText(scene.end[event])} (${durationText(scene.end[event] - scene.start[event])})`;
      const waited = scene.start[event] - scene.asked[event];
      const what = events.kind[event] === TRANSFER
        ? `receives ${shorten(events.name[event])} from ${scene.devices[events.source[event]]?.name}: ${times}${size}` +
          (waited > 0 ? `; waited ${durationText(waited)}` : "")
        : `${found.length > 1 ? shorten(events.name[event]) + ": " : ""}${times}${size}`;
      this.tip.append(make("div", scene.start[event] <= this.time && this.time < scene.end[event] ? "tfd-now" : "", {}, what));
    }
    if (found.length > 6) this.tip.append(make("div", "", {}, `${found.length - 6} more`));
  }

  request() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }
  redraw() {
    if (this.isPlaying) return; // the next frame does
    this.request();
  }
  tick(now) {
    const elapsed = this.lastFrame ? Math.min(now - this.lastFrame, 100) : 0;
    if (this.isPlaying && this.lastFrame) this.frames.push(now - this.lastFrame);
    let crossed = null;
    if (this.isPlaying) {
      crossed = this.time;
      this.place = this.advanced(now, elapsed);
      if (this.place >= 1) this.pause();
    }
    this.lastFrame = now;
    this.draw(this.isPlaying && !this.reduced.matches ? elapsed : 0, crossed);
    if (this.isPlaying) this.request();
    else this.lastFrame = 0;
  }
  /** The next place: evenly, or from event to event where motion is not wanted. */
  advanced(now, elapsed) {
    const seconds = this.axis.seconds / this.speed;
    if (!this.reduced.matches) return clamp(this.place + elapsed / 1000 / seconds, 0, 1);
    this.owed = (this.owed || 0) + elapsed / 1000 / seconds;
    const ticks = this.scene.ticks, i = lastNotAfter(ticks, this.time);
    const next = i + 2 < ticks.length ? this.axis.place((ticks[i + 1] + ticks[i + 2]) / 2) : 1;
    const least = 0.25 / seconds; // four a second at most
    if (this.owed < least) return this.place;
    const goal = Math.max(next, this.place + this.owed);
    this.owed = 0;
    return clamp(goal, 0, 1);
  }
  draw(elapsed, crossed) {
    const time = this.time, still = this.reduced.matches || !this.isPlaying;
    const lit = this.picture.draw(time, this.axis, this.colours, { elapsed, crossed: elapsed ? crossed : null, selected: this.selected, still });
    if (this.follows && this.picture.overflows) this.followLit(lit, elapsed);
    this.slider.value = this.place;
    this.timelinePlace();
    this.showCaption(time);
  }
  followLit(lit, elapsed) {
    const boxes = lit.computes.size ? [...lit.computes.keys()] : lit.travels.map(([event]) => this.scene.events.boxes[event][0]).filter((each) => each >= 0);
    if (!boxes.length) return;
    const found = boxes.map((each) => this.scene.boxes[each]);
    const middle = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const before = [this.picture.view.x, this.picture.view.y].join();
    this.picture.follow(middle(found.map((box) => box.x)), middle(found.map((box) => box.y)), elapsed ? 1 - Math.exp(-elapsed / 300) : 1);
    if (!this.isPlaying && before !== [this.picture.view.x, this.picture.view.y].join()) this.request();
  }
  timelinePlace() {
    this.slider.style.setProperty("--tfd-place", this.place);
  }
  showCaption(time) {
    const told = this.scene.told(time), key = JSON.stringify(told), clock = durationText(time);
    if (key !== this.toldKey) {
      this.toldKey = key;
      this.clock = make("b", "tfd-time", {}, clock);
      const parts = told.flatMap(([device, text, state], i) => {
        const part = make("span", this.scene.isWait(state) ? "tfd-waits" : "");
        if (device >= 0) {
          part.append(make("i", "", { style: `background:${this.scene.devices[device].colour}`, "aria-hidden": "true" }));
          part.append(make("strong", "", {}, this.scene.devices[device].name), ` ${text}`);
        } else part.append(text);
        return i ? ["; ", part] : [part];
      });
      this.caption.replaceChildren(this.clock, ": ", ...parts);
    }
    this.clock.textContent = clock;
    if (!this.isPlaying || key !== this.spoken) {
      this.spoken = key;
      this.slider.setAttribute("aria-valuetext", this.caption.textContent);
    }
  }
}

const playerView = {
  async render({ model, el, signal }) {
    hideStill(model, el);
    const root = document.createElement("div");
    el.append(root);
    const data = await unpacked(model.get("scene"));
    if (signal?.aborted) return;
    const player = new Player(model, root, data);
    root.player = player; // tests measure its frames
    return () => player.close();
  },
};
