// A graph whose scopes open: each has a drawing of its own. plots/graph/payload.py says what it is given.

const GRAPH_TALLEST = 560; // pixels
const GRAPH_STEP = 1.4; // of a zoom
const GRAPH_WORDS = {
  name: "graph",
  label: "graph",
  finds: "find a node or an op",
  whole: "whole drawing",
  keys: "plus, minus and 0 zoom; Escape goes out of a scope; Enter in the search goes to the next node.",
};

class GraphPicture extends GraphDrawing {
  constructor(root, data, sentence) {
    super(root, data);
    this.path = [""];
    this.build(GRAPH_WORDS, GRAPH_STEP, sentence);
    this.crumbs = make("span", "tfd-crumbs");
    this.found.after(this.crumbs);
    this.enter();
    this.listen();
    this.resize();
  }
  get shown() { return this.data.views[this.path[this.path.length - 1]]; }

  /** Say where we are, and what colours mean. */
  enter() {
    this.over = this.pinned = -1;
    this.about.replaceChildren();
    this.tip.hidden = true;
    this.crumbs.replaceChildren(...this.path.flatMap((name, i) => {
      if (this.path.length === 1) return [];
      const each = make("button", "tfd-link", { type: "button" }, i ? name.slice(this.path[i - 1] ? this.path[i - 1].length + 1 : 0) || name : "graph");
      each.disabled = i === this.path.length - 1;
      this.on(each, "click", () => this.leaveTo(i));
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

  arrange() {
    const [width, height] = this.shown.size, whole = Math.min(this.width / (width * DPI), 1.15);
    this.sizeCanvas(clamp(height * DPI * whole, 60, GRAPH_TALLEST));
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
  get place() { return [this.left, this.top]; }
  move(event) {
    if (this.drag) {
      const dx = event.offsetX - this.drag.x, dy = event.offsetY - this.drag.y;
      this.drag.moved ||= Math.hypot(dx, dy) > 3;
      if (this.drag.moved) [this.left, this.top] = [this.drag.place[0] + dx, this.drag.place[1] + dy];
      return this.redraw();
    }
    const found = this.boxAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = found >= 0 ? "pointer" : "grab";
    this.point(found, event.offsetX, event.offsetY);
  }
  click(x, y) {
    const i = this.boxAt(x, y);
    if (i >= 0 && this.shown.boxes[i][7]) return this.open(this.shown.boxes[i][7]);
    this.pin(i);
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
  keys() { return { Escape: () => (this.path.length > 1 ? this.leaveTo(this.path.length - 2) : this.pin(-1)) }; }

  /** The nodes whose name has what is wanted, or whose op is that. */
  matching(wanted) {
    const { name, op } = this.data.nodes;
    return [...name.keys()].filter((i) => name[i].toLowerCase().includes(wanted) || op[i].toLowerCase() === wanted);
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
}
