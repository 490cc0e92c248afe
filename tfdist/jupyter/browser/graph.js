// A graph whose scopes open: each has a drawing of its own. plots/graph/payload.py says what it is given.

const GRAPH_TALLEST = 560; // pixels
const GRAPH_KEYS = "plus, minus and 0 zoom; Escape goes out of a scope; Enter in the search goes to the next node.";

class GraphPicture extends GraphDrawing {
  constructor(root, data, sentence) {
    super();
    this.root = root;
    this.data = data;
    this.path = [""];
    this.over = this.pinned = -1;
    this.frames = [];
    this.undo = new AbortController();
    this.build(sentence);
    this.listen();
    this.resize();
  }
  get shown() { return this.data.views[this.path[this.path.length - 1]]; }

  build(sentence) {
    const { root } = this;
    root.classList.add("tfdist-view", "tfdist-graph");
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "graph");
    root.setAttribute("aria-description", GRAPH_KEYS);
    root.tabIndex = 0;
    root.dataset.lmSuppressShortcuts = "true"; // JupyterLab has keys of its own
    const bar = make("div", "tfd-bar");
    const button = (label, text, call) => {
      const found = make("button", "", { type: "button", "aria-label": label, title: label }, text);
      found.addEventListener("click", call, { signal: this.undo.signal });
      return found;
    };
    this.find = make("input", "tfd-find", { type: "search", placeholder: "find a node or an op", "aria-label": "find a node or an op" });
    this.found = make("span", "tfd-found", { role: "status" });
    this.crumbs = make("span", "tfd-crumbs");
    bar.append(this.find, this.found, this.crumbs, make("span", "tfd-space"), button("zoom out (−)", "−", () => this.zoom(1 / 1.4)),
      button("whole drawing (0)", "Fit", () => this.fit()), button("zoom in (+)", "+", () => this.zoom(1.4)));
    const stage = make("div", "tfd-stage");
    this.canvas = make("canvas", "tfd-picture", { role: "img", "aria-label": sentence });
    this.tip = make("div", "tfd-tip");
    this.tip.hidden = true;
    stage.append(this.canvas, this.tip);
    this.about = make("div", "tfd-about", { "aria-live": "polite" });
    this.legend = make("div", "tfd-legend");
    root.append(bar, stage, this.about, this.legend);
    this.enter();
  }
  listen() {
    const on = (target, name, call, options = {}) => target.addEventListener(name, call, { signal: this.undo.signal, ...options });
    on(this.canvas, "wheel", (event) => this.wheel(event), { passive: false });
    on(this.canvas, "pointerdown", (event) => this.grab(event));
    on(this.canvas, "pointermove", (event) => this.move(event));
    on(this.canvas, "pointerleave", () => this.point(-1));
    on(this.root, "keydown", (event) => this.key(event));
    on(this.find, "input", () => this.search());
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

  /** Say where we are, and what colours mean. */
  enter() {
    this.over = this.pinned = -1;
    this.about.replaceChildren();
    this.tip.hidden = true;
    this.crumbs.replaceChildren(...this.path.flatMap((name, i) => {
      if (this.path.length === 1) return [];
      const each = make("button", "tfd-link", { type: "button" }, i ? name.slice(this.path[i - 1] ? this.path[i - 1].length + 1 : 0) || name : "graph");
      each.disabled = i === this.path.length - 1;
      each.addEventListener("click", () => this.leaveTo(i), { signal: this.undo.signal });
      return i ? [" / ", each] : [each];
    }));
    const { keys, scaled, steps, hot } = this.data, items = [];
    const sample = (colour, text, alpha = 1) => {
      const each = make("span");
      each.append(make("i", "", { style: `background:${colour};opacity:${alpha}`, "aria-hidden": "true" }), text);
      items.push(each);
    };
    if (scaled && !this.shown.most) items.push(make("span", "", {}, "nothing of it ran in the last trace"));
    else if (scaled)
      for (let k = 1; k <= steps; k++) {
        const amount = (this.shown.most * k) / steps;
        sample(hot, scaled === "memory" ? bytesText(Math.round(amount)) : durationText(amount), (0.75 * k) / steps);
      }
    else for (const [name, colour] of keys) sample(colour, name);
    const told = this.shown.boxes.some((box) => box[7]) ? "a click opens what has ▸; " : "";
    items.push(make("span", "", {}, `${told}Ctrl + wheel zooms, dragging moves`));
    this.legend.replaceChildren(...items);
  }
  open(name) {
    if (!this.data.views[name]) return;
    this.path.push(name);
    this.enter();
    this.arrange();
  }
  leaveTo(i) {
    this.path.length = i + 1;
    this.enter();
    this.arrange();
  }

  resize() {
    const width = this.canvas.parentElement.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.colours = readColours(this.root);
    this.arrange();
  }
  recolour() {
    this.colours = readColours(this.root);
    this.redraw();
  }
  arrange() {
    const [width, height] = this.shown.size, whole = Math.min(this.width / (width * DPI), 1.15);
    this.height = Math.round(clamp(height * DPI * whole, 60, GRAPH_TALLEST));
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.height = `${this.height}px`;
    this.fit();
  }
  fit() {
    const [width, height] = this.shown.size;
    this.scale = clamp(Math.min(this.width / (width * DPI), this.height / (height * DPI), 1.15), 0.02, 1.15);
    this.left = (this.width - width * DPI * this.scale) / 2;
    this.top = (this.height - height * DPI * this.scale) / 2;
    this.redraw();
  }
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = clamp(this.scale * factor, 0.02, 3), change = scale / this.scale;
    this.left = x - (x - this.left) * change;
    this.top = y - (y - this.top) * change;
    this.scale = scale;
    this.redraw();
  }
  at(x, y) { return [x * DPI * this.scale + this.left, y * DPI * this.scale + this.top]; }
  boxAt(px, py) {
    const x = (px - this.left) / DPI / this.scale, y = (py - this.top) / DPI / this.scale;
    return this.shown.boxes.findIndex(([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height);
  }
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-(event.deltaY || event.deltaX) / 400), event.offsetX, event.offsetY);
  }
  grab(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, left: this.left, top: this.top, moved: false };
    const end = new AbortController();
    const finish = (isClick) => {
      end.abort();
      const { moved } = this.drag;
      this.drag = null;
      if (isClick && !moved) this.click(this.boxAt(event.offsetX, event.offsetY));
    };
    this.canvas.addEventListener("pointerup", () => finish(true), { signal: end.signal });
    this.canvas.addEventListener("pointercancel", () => finish(false), { signal: end.signal });
  }
  move(event) {
    if (this.drag) {
      const dx = event.offsetX - this.drag.x, dy = event.offsetY - this.drag.y;
      this.drag.moved ||= Math.hypot(dx, dy) > 3;
      if (this.drag.moved) [this.left, this.top] = [this.drag.left + dx, this.drag.top + dy];
      return this.redraw();
    }
    const found = this.boxAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = found >= 0 ? "pointer" : "grab";
    this.point(found, event.offsetX, event.offsetY);
  }
  point(i, x = 0, y = 0) {
    if (i !== this.over) {
      this.over = i;
      this.tip.hidden = i < 0;
      if (i >= 0) this.tip.replaceChildren(...this.told(i));
      this.redraw();
    }
    if (i < 0) return;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const left = x + 16 + width > this.width ? Math.max(x - 16 - width, 0) : x + 16;
    const top = y + 14 + height > this.height ? Math.max(y - 14 - height, 0) : y + 14;
    this.tip.style.transform = `translate(${left}px, ${top}px)`;
  }
  click(i) {
    if (i >= 0 && this.shown.boxes[i][7]) return this.open(this.shown.boxes[i][7]);
    this.pin(i);
  }
  pin(i) {
    this.pinned = i;
    this.about.replaceChildren(...(i < 0 ? [] : this.told(i)));
    this.redraw();
  }
  /** What is known of a box: names, ops, devices, and of a traced step times and bytes. */
  told(i) {
    const { nodes, devices } = this.data, members = this.shown.boxes[i][9];
    const sum = (column) => members.reduce((total, j) => total + Math.max(nodes[column][j], 0), 0);
    const title = members.length === 1 ? nodes.name[members[0]] : this.shown.boxes[i][7] || this.shown.boxes[i][4];
    const counts = new Map();
    for (const j of members) counts.set(nodes.op[j], (counts.get(nodes.op[j]) || 0) + 1);
    const ops = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([op, count]) => (count > 1 ? `${count} ${op}` : op));
    const where = [...new Set(members.map((j) => devices[nodes.device[j]] || "no device asked for"))];
    const lines = [make("b", "", {}, title), make("div", "", {}, ops.join(", ") + (counts.size > 6 ? ", ..." : "")), make("div", "", {}, where.slice(0, 4).join(", ") + (where.length > 4 ? ` and ${where.length - 4} more` : ""))];
    if (members.some((j) => nodes.us[j] >= 0)) lines.push(make("div", "", {}, `took ${durationText(sum("us"))} in the last trace`));
    if (members.some((j) => nodes.bytes[j] > 0)) lines.push(make("div", "", {}, `made ${bytesText(sum("bytes"))}`));
    return lines;
  }
  key(event) {
    if (event.target === this.find) {
      if (event.key === "Enter") this.search(true);
      return;
    }
    const steps = { "+": () => this.zoom(1.4), "=": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4), 0: () => this.fit(),
      Escape: () => this.path.length > 1 ? this.leaveTo(this.path.length - 2) : this.pin(-1) };
    if (!steps[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    steps[event.key]();
  }

  /** Go to the nodes whose name or op has what is typed, one after the other. */
  search(isNext = false) {
    const wanted = this.find.value.trim().toLowerCase(), { name, op } = this.data.nodes;
    this.matches = wanted ? [...name.keys()].filter((i) => name[i].toLowerCase().includes(wanted) || op[i].toLowerCase() === wanted) : [];
    this.nth = isNext && this.matches.length ? (this.nth + 1) % this.matches.length : 0;
    this.found.textContent = wanted ? (this.matches.length ? `${this.nth + 1} of ${this.matches.length}` : "none") : "";
    if (this.matches.length) this.goTo(this.matches[this.nth]);
  }
  /** Open the scopes around a node, as far as they have drawings, and tell of it. */
  goTo(node) {
    this.path = [""];
    let i = this.boxOf(node);
    while (i >= 0 && this.shown.boxes[i][7] && this.shown.boxes[i][9].length > 1 && this.data.views[this.shown.boxes[i][7]]) {
      this.path.push(this.shown.boxes[i][7]);
      i = this.boxOf(node);
    }
    if (i < 0 && this.path.length > 1) { this.path.pop(); i = this.boxOf(node); } // of a series, the first is drawn
    this.enter();
    this.arrange();
    this.pin(i);
  }
  boxOf(node) { return this.shown.boxes.findIndex((box) => box[9].includes(node)); }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const begun = performance.now();
      this.draw();
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 200) this.frames.shift();
    });
  }
}
