// The picture: what is seen of the graph, how large, and which of its layers are drawn anew.

/** The graph on its canvas. Boxes and edges lie on a layer that is drawn anew only if they change. */
class Picture extends Drawing {
  constructor(scene, canvas) {
    super();
    this.scene = scene;
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.layers = [0, 1].map(() => document.createElement("canvas"));
    this.layerKeys = ["", ""];
    this.fitted = new Map();
    this.cuts = new Map();
    this.heat = new Float64Array(scene.boxes.length);
    this.heatColour = new Int32Array(scene.boxes.length);
    this.edgeHeat = new Float64Array(scene.edges.length);
    this.edgeColour = new Int32Array(scene.edges.length);
    this.view = { scale: 1, x: 0, y: 0 };
    this.width = this.height = 0;
  }
  get size() {
    const { left, right, top, bottom } = this.scene.size;
    return { left, top: top - 0.06, width: right - left, height: bottom - top + 0.06 };
  }
  resize(width, dark) {
    this.width = width;
    const natural = this.size.height * DPI * Math.min(width / (this.size.width * DPI), 1.25);
    this.height = Math.round(clamp(natural, 150, this.tallest ?? TALLEST) + HEAD);
    const ratio = (this.ratio = window.devicePixelRatio || 1);
    for (const canvas of [this.canvas, ...this.layers]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    this.canvas.style.height = `${this.height}px`;
    this.layerKeys = ["", ""];
    this.fit();
  }
  /** The whole width, and the whole height too if it stays legible. */
  fit() {
    const { width, height } = this.size, room = this.height - HEAD;
    const across = this.width / (width * DPI), down = room / (height * DPI);
    const whole = Math.min(across, down, 1.25);
    this.view.scale = whole >= 0.7 ? whole : clamp(Math.min(across, 1.25), 0.7, 1.25);
    this.view.x = this.view.y = 0;
    this.keepInside();
  }
  get overflows() {
    const { width, height } = this.size, scale = this.view.scale * DPI;
    return width * scale > this.width + 1 || height * scale > this.height - HEAD + 1;
  }
  zoom(factor, x = this.width / 2, y = HEAD + (this.height - HEAD) / 2) {
    const scale = clamp(this.view.scale * factor, 0.12, 4), change = scale / this.view.scale;
    this.view.x = x - (x - this.view.x) * change;
    this.view.y = y - HEAD - (y - HEAD - this.view.y) * change;
    this.view.scale = scale;
    this.keepInside();
  }
  pan(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.keepInside();
  }
  keepInside() {
    const { width, height } = this.size, view = this.view, scale = view.scale * DPI;
    const inside = (offset, taken, room) =>
      taken <= room ? (room - taken) / 2 : clamp(offset, room - taken, 0);
    view.x = inside(view.x, width * scale, this.width);
    view.y = height * scale <= this.height - HEAD ? 0 : clamp(view.y, this.height - HEAD - height * scale, 0);
  }
  /** Move so that a place in the picture comes into the middle; all at once, or a part of the way. */
  follow(x, y, part) {
    const scale = this.view.scale * DPI, [px, py] = this.at(x, y);
    const beside = (place, low, high) => (place < low ? low - place : place > high ? high - place : 0);
    const dx = beside(px, this.width * 0.25, this.width * 0.75);
    const room = this.height - HEAD;
    const dy = beside(py, HEAD + room * 0.35, HEAD + room * 0.65);
    if (scale && (Math.abs(dx) > 0.5 || Math.abs(dy) > 0.5)) this.pan(dx * part, dy * part);
  }
  at(x, y) {
    const scale = this.view.scale * DPI;
    return [(x - this.size.left) * scale + this.view.x, (y - this.size.top) * scale + this.view.y + HEAD];
  }
  boxAt(px, py) {
    if (py < HEAD) return -1;
    const scale = this.view.scale * DPI, half = this.scene.size.box[1] / 2;
    const x = (px - this.view.x) / scale + this.size.left;
    const y = (py - HEAD - this.view.y) / scale + this.size.top;
    return this.scene.boxes.findIndex(
      (box) => Math.abs(box.x - x) <= box.w / 2 && Math.abs(box.y - y) <= half);
  }

  /** Draw a moment. `place` tells where a time is on the slider: tensors travel evenly there. */
  draw(time, axis, colours, options) {
    const { scene, context } = this;
    this.colours = colours;
    const lit = this.lights(time, axis, options);
    this.drawLayers(time);
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (const layer of this.layers) context.drawImage(layer, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.save();
    context.beginPath();
    context.rect(0, HEAD, this.width, this.height - HEAD);
    context.clip();
    this.taken = [];
    for (let i = 0; i < scene.edges.length; i++)
      if (!this.isCrowded && this.edgeHeat[i] > 0.03 && !lit.edges.has(i)) this.glowEdge(i, this.edgeHeat[i]);
    this.isCrowded = lit.travels.length > CROWD;
    if (!this.isCrowded) for (const [event, edge] of lit.travels) this.strokeWay(event, scene.ways[edge]);
    this.isGlowing = this.heat.reduce((sum, each) => sum + (each > 0.03), 0) <= CROWD;
    for (let i = 0; i < scene.boxes.length; i++)
      if (this.heat[i] > 0.03) this.drawLit(i, this.heat[i], lit.computes.get(i));
    for (const [box, event] of lit.waits) this.drawWaiting(box, event, time, options);
    if (options.selected >= 0) this.outline(options.selected);
    lit.travels.forEach(([event, edge, share, first], i) =>
      this.drawTravel(event, scene.ways[edge], share, first && i < CROWD));
    for (const [event, share] of lit.inside) this.drawInside(event, share);
    this.fade();
    context.restore();
    this.drawHead(time);
    return lit;
  }

  /** Find what is lit: hot now, and cooling down since. */
  lights(time, axis, { elapsed, crossed }) {
    const { scene } = this, { events } = scene;
    const cooled = elapsed ? Math.exp(-elapsed / AFTERGLOW) : 0;
    for (let i = 0; i < this.heat.length; i++) this.heat[i] *= cooled;
    for (let i = 0; i < this.edgeHeat.length; i++) this.edgeHeat[i] *= cooled;
    const lit = { computes: new Map(), travels: [], inside: [], waits: new Map(), edges: new Set() };
    const idle = scene.devices.map((_, device) => scene.doingOf(device, time)[0] === scene.waits);
    const since = crossed === null ? time : crossed;
    for (let i = 0; i < scene.count; i++) {
      const begun = scene.start[i] <= time;
      if (events.kind[i] !== TRANSFER) {
        if (!begun || (scene.end[i] <= time && !(scene.end[i] > since))) continue;
        for (const box of events.boxes[i]) {
          this.heat[box] = 1;
          this.heatColour[box] = events.device[i];
          if (scene.end[i] > time) lit.computes.set(box, i);
          if (scene.end[i] > time && scene.blocks(i)) lit.waits.set(box, i);
        }
      } else if (begun && scene.end[i] > time) {
        const first = axis.place(scene.start[i]), last = axis.place(scene.end[i]);
        const share = clamp((axis.place(time) - first) / (last - first || 1), 0, 1);
        events.edges[i].forEach((edge, k) => {
          lit.travels.push([i, edge, share, k === 0]);
          lit.edges.add(edge);
          this.edgeHeat[edge] = 1;
          this.edgeColour[edge] = events.source[i];
        });
        if (!events.edges[i].length) lit.inside.push([i, share]);
      } else if (begun && scene.end[i] > since) {
        for (const edge of events.edges[i]) {
          this.edgeHeat[edge] = 1;
          this.edgeColour[edge] = events.source[i];
        }
      } else if (!begun && scene.asked[i] <= time && idle[events.device[i]]) {
        for (const box of events.boxes[i]) if (!lit.waits.has(box)) lit.waits.set(box, i);
      }
    }
    return lit;
  }

  /** Draw what changes rarely on layers of its own: columns and edges, and boxes over them. */
  drawLayers(time) {
    const { scene, view } = this;
    let over = 0, begun = 0;
    for (let i = 0; i < scene.boxes.length; i++) {
      over += scene.lastOf[i] <= time;
      begun += scene.firstOf[i] <= time;
    }
    const seen = [view.scale, view.x, view.y, this.width, this.colours.ink, this.colours.panel];
    const changes = scene.edges.length > MANY ? "" : over; // many edges are not drawn that often
    this.refresh(0, [...seen, changes].join(), (c) => this.drawGround(c, time));
    this.refresh(1, [...seen, over, begun].join(), (c) => {
      scene.boxes.forEach((box, i) => {
        if (this.isSeen(box)) this.drawBox(c, box, i, scene.lastOf[i] <= time, scene.firstOf[i] <= time);
      });
    });
  }
  refresh(i, key, draw) {
    if (key === this.layerKeys[i]) return;
    this.layerKeys[i] = key;
    const c = this.layers[i].getContext("2d");
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    draw(c);
  }
  drawGround(c, time) {
    const { scene } = this, scale = this.view.scale * DPI;
    c.fillStyle = this.colours.panel;
    c.fillRect(0, 0, this.width, this.height);
    scene.columns.forEach((column, i) => {
      c.fillStyle = this.colours.shade;
      if (i % 2 === 0) c.fillRect(this.at(column.left, 0)[0], 0, column.width * scale, this.height);
    });
    for (const edge of scene.edges) this.drawEdge(c, edge, scene.lastOf[edge.from] <= time);
  }
}
