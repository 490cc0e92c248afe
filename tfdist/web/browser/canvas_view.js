// What drawings on a canvas have in common that zoom, are searched, and tell of what is pointed at.

/**
 * A drawing with its search, its buttons, and what it tells. A view of one kind says `arrange`, `draw`, `fit`,
 * `zoom(factor, x, y)`, `place` (where it is, when it is dragged), `move(event)`, `click(x, y)`, `told(i)`,
 * `matching(wanted)`, `goTo(i)` and `keys()`.
 */
class CanvasView {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.over = this.pinned = -1;
    this.frames = [];
    this.undo = new AbortController();
  }
  on(target, name, call, options = {}) {
    target.addEventListener(name, call, { signal: this.undo.signal, ...options });
  }

  /** Build all elements; `words` are the view's own: name, label, keys, finds, whole; `step` is of a zoom. */
  build(words, step, sentence) {
    const { root } = this;
    this.step = step;
    root.classList.add("tfdist-view", `tfdist-${words.name}`);
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", words.label);
    root.setAttribute("aria-description", words.keys);
    root.tabIndex = 0;
    root.dataset.lmSuppressShortcuts = "true"; // JupyterLab has keys of its own
    const bar = make("div", "tfd-bar");
    const button = (label, text, call) => {
      const found = make("button", "", { type: "button", "aria-label": label, title: label }, text);
      this.on(found, "click", call);
      return found;
    };
    this.find = make("input", "tfd-find", { type: "search", placeholder: words.finds, "aria-label": words.finds });
    this.found = make("span", "tfd-found", { role: "status" });
    bar.append(this.find, this.found, make("span", "tfd-space"), button("zoom out (−)", "−", () => this.zoom(1 / step)),
      button(`${words.whole} (0)`, "Fit", () => this.fit()), button("zoom in (+)", "+", () => this.zoom(step)));
    const stage = make("div", "tfd-stage");
    this.canvas = make("canvas", "", { role: "img", "aria-label": sentence });
    this.tip = make("div", "tfd-tip");
    this.tip.hidden = true;
    stage.append(this.canvas, this.tip);
    this.about = make("div", "tfd-about", { "aria-live": "polite" });
    this.legend = make("div", "tfd-legend");
    root.append(bar, stage, this.about, this.legend);
  }
  listen() {
    this.on(this.canvas, "wheel", (event) => this.wheel(event), { passive: false });
    this.on(this.canvas, "pointerdown", (event) => this.grab(event));
    this.on(this.canvas, "pointermove", (event) => this.move(event));
    this.on(this.canvas, "pointerleave", () => this.point(-1));
    this.on(this.root, "keydown", (event) => this.key(event));
    this.on(this.find, "input", () => this.search());
    this.unwatch = onTheme(() => this.recolour());
    this.sizer = new ResizeObserver(() => this.resize());
    this.sizer.observe(this.root);
  }
  close() {
    this.undo.abort();
    this.unwatch();
    this.sizer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  resize() {
    const width = this.canvas.parentElement.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.arrange();
    this.recolour();
  }
  recolour() {
    this.colours = readColours(this.root);
    this.redraw();
  }
  /** Give the canvas its height, and as many dots as the screen has. */
  sizeCanvas(height) {
    this.height = Math.round(height);
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.height = `${this.height}px`;
  }
  /** The empty canvas to draw on; null as long as it has no size. */
  emptied() {
    if (!this.colours || !this.width) return null;
    const c = this.canvas.getContext("2d");
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.colours.panel;
    c.fillRect(0, 0, this.width, this.height);
    return c;
  }
  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const begun = performance.now();
      this.draw();
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 200) this.frames.shift();
    });
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    this.zoom(Math.exp(-(event.deltaY || event.deltaX) / 400), event.offsetX, event.offsetY);
  }
  grab(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, place: this.place, moved: false };
    const end = new AbortController();
    const finish = (isClick) => {
      end.abort();
      const { x, y, moved } = this.drag;
      this.drag = null;
      if (isClick && !moved) this.click(x, y);
    };
    this.canvas.addEventListener("pointerup", () => finish(true), { signal: end.signal });
    this.canvas.addEventListener("pointercancel", () => finish(false), { signal: end.signal });
  }
  key(event) {
    if (event.target === this.find) {
      if (event.key === "Enter") this.search(true);
      return;
    }
    const larger = () => this.zoom(this.step), smaller = () => this.zoom(1 / this.step);
    const calls = { "+": larger, "=": larger, "-": smaller, 0: () => this.fit(), ...this.keys() };
    if (!calls[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    calls[event.key]();
  }

  /** Go to the first that has what is typed, or to the next. */
  search(isNext = false) {
    const wanted = this.find.value.trim().toLowerCase();
    this.matches = wanted ? this.matching(wanted) : [];
    this.nth = isNext && this.matches.length ? (this.nth + 1) % this.matches.length : 0;
    this.found.textContent = wanted ? (this.matches.length ? `${this.nth + 1} of ${this.matches.length}` : "none") : "";
    if (this.matches.length) this.goTo(this.matches[this.nth]);
    else this.redraw();
  }
  /** Tell of what the pointer is over, beside it. */
  point(i, x = 0, y = 0) {
    if (i !== this.over) {
      this.over = i;
      this.tip.hidden = i < 0;
      if (i >= 0) this.tip.replaceChildren(...this.told(i));
      this.redraw();
    }
    if (i >= 0) placeTip(this.tip, x, y, this.width, this.height);
  }
  /** Keep what is told of one, below the drawing. */
  pin(i) {
    this.pinned = i;
    this.about.replaceChildren(...(i < 0 ? [] : this.told(i)));
    this.redraw();
  }
}
