// The step player: a traced step over its placed graph. It has the whole scene from the beginning
// (plots/player_payload.py says what is in it) and asks the kernel for nothing while it plays.

const DPI = 96;
const HEAD = 46; // pixels: the devices' names, and what they do
const TALLEST = 560; // pixels of the picture; beyond, it follows what happens
const AFTERGLOW = 380; // milliseconds: what takes a microsecond is seen, too
const BASE_SECONDS = 0.3; // of a stretch between two events, at speed 1
const SHORTEST = 5, LONGEST = 60; // seconds of a step at speed 1
const COMPUTE = 0, QUEUE = 1, TRANSFER = 2; // kinds of events
const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const DETAIL = 0.42; // scale below which boxes have no words
const CROWD = 24; // things at once; of more, few are labelled, none glows, and tails are short
const MANY = 150; // edges; more are all alike: thin, without dashes
const COMET = 0.3; // inches of such a tail

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export function durationText(us) {
  if (us > 0 && us < 9.95) return `${us.toFixed(1)} µs`;
  if (us < 999.5) return `${us.toFixed(0)} µs`;
  const three = (value) => String(Number(value.toPrecision(3)));
  return us < 999500 ? `${three(us / 1e3)} ms` : `${three(us / 1e6)} s`;
}

function bytesText(count) {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (count >= size) return `${Number((count / size).toPrecision(3))} ${unit}`;
  return `${count} B`;
}

function shorten(name, most = 30) {
  if (name.length <= most) return name;
  const end = name.slice(1 - most), scope = end.indexOf("/");
  return "…" + (scope >= 0 && scope <= most / 3 ? end.slice(scope) : end);
}

/** Position of the last element that is not greater than `value`, or -1. */
function lastNotAfter(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function make(tag, className, attributes = {}, text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

/** Where a time stands on the slider, from 0 to 1: as long as it takes, or all events alike. */
class Axis {
  constructor({ ticks, lengths }, alike) {
    this.ticks = ticks;
    this.alike = alike;
    this.ends = alike ? [0] : ticks;
    if (alike) for (const length of lengths) this.ends.push(this.ends[this.ends.length - 1] + length);
    this.whole = this.ends[this.ends.length - 1] || 1;
  }
  place(time) {
    return clamp(this.between(this.ticks, this.ends, time) / this.whole, 0, 1);
  }
  time(place) {
    return this.between(this.ends, this.ticks, place * this.whole);
  }
  between(from, to, value) {
    const i = clamp(lastNotAfter(from, value), 0, from.length - 2);
    const share = clamp((value - from[i]) / (from[i + 1] - from[i] || 1), 0, 1);
    return to[i] + share * (to[i + 1] - to[i]);
  }
  /** Seconds that the whole step takes at speed 1. */
  get seconds() {
    return this.alike ? clamp(this.whole * BASE_SECONDS, SHORTEST, LONGEST) : 2 * SHORTEST;
  }
}

/** The colours of the notebook's theme, as the style sheet resolves them. */
function readColours(root) {
  const style = getComputedStyle(root);
  const ground = (style.backgroundColor.match(/[\d.]+/g) || [255, 255, 255]).map(Number);
  const light = 0.3 * ground[0] + 0.59 * ground[1] + 0.11 * ground[2];
  root.dataset.ground = light < 128 && (ground[3] ?? 1) > 0 ? "dark" : "light";
  const found = {};
  for (const name of ["ink", "faint", "panel", "shade", "wait", "wait-ground"])
    found[name] = getComputedStyle(root).getPropertyValue(`--tfd-${name}`).trim();
  found.clear = `rgba(${ground.slice(0, 3).join()}, 0)`; // the panel, but not to be seen
  return found;
}

/** What holds at a moment: who computes, what travels, who waits. */
class Scene {
  constructor(data) {
    Object.assign(this, data);
    const events = data.events;
    this.start = Float64Array.from(events.start);
    this.end = Float64Array.from(events.end);
    this.asked = Float64Array.from(events.asked);
    this.count = events.kind.length;
    this.firstOf = new Float64Array(data.boxes.length).fill(Infinity);
    this.lastOf = new Float64Array(data.boxes.length).fill(-Infinity);
    this.eventsOf = data.boxes.map(() => []);
    for (let i = 0; i < this.count; i++)
      for (const box of events.boxes[i]) {
        this.eventsOf[box].push(i);
        if (events.kind[i] === TRANSFER) continue;
        this.firstOf[box] = Math.min(this.firstOf[box], this.start[i]);
        this.lastOf[box] = Math.max(this.lastOf[box], this.end[i]);
      }
    this.waits = data.states.indexOf("waits");
    this.quiet = new Set(["pauses", "to come", "done"].map((each) => data.states.indexOf(each)));
    this.done = data.states.indexOf("done");
    this.pauses = data.states.indexOf("pauses");
    this.ways = data.edges.map((edge) => measured(edge.way));
  }
  /** Return [state, event, others, start] of a device. */
  doingOf(device, time) {
    const found = this.doing[device], i = Math.max(lastNotAfter(found.start, time), 0);
    return found.start.length ? [found.state[i], found.event[i], found.others[i], found.start[i]] : [-1, -1, 0, 0];
  }
  /** Whether what a device does is told in red. */
  isWait(state) {
    return state === this.waits || state === this.states.indexOf("queues");
  }
  /** Whether something is at a queue for so long that it is said to wait. */
  blocks(event) {
    const span = this.ticks[this.ticks.length - 1];
    return this.events.kind[event] === QUEUE && this.end[event] - this.start[event] > this.brief * span;
  }
  phrase([state, event, others, start]) {
    if (state < 0) return "";
    if (event < 0) return this.phrases[state];
    const source = this.events.source[event];
    const text = this.phrases[state]
      .replace("{name}", () => shorten(this.events.name[event]))
      .replace("{source}", () => (source < 0 ? "no device" : this.devices[source].name))
      .replace("{since}", durationText(start));
    return text + (others ? `, and ${others} more` : "");
  }
  /** Return what a caption tells: [device, phrase, state] of each device that does something. */
  told(time) {
    const all = this.devices.map((_, device) => [device, this.doingOf(device, time)]);
    let found = all.filter(([, [state]]) => !this.quiet.has(state) && state >= 0);
    if (!found.length) found = all.filter(([, [state]]) => state === this.pauses);
    found.sort((a, b) => a[1][0] - b[1][0]);
    const parts = found.slice(0, 4).map(([device, doing]) => [device, this.phrase(doing), doing[0]]);
    if (found.length > 4) parts.push([-1, `${found.length - 4} more`, -1]);
    const over = all.every(([, [state]]) => state === this.done || state < 0);
    return parts.length ? parts : [[-1, over ? "the step is over" : "nothing runs", -1]];
  }
}

/** A way with the length of each of its parts. */
function measured(corners) {
  const lengths = [0];
  for (let i = 1; i < corners.length; i++) {
    const [x0, y0] = corners[i - 1], [x1, y1] = corners[i];
    lengths.push(lengths[i - 1] + Math.hypot(x1 - x0, y1 - y0));
  }
  return { corners, lengths, length: lengths[lengths.length - 1] };
}

/** The corners of the first `share` of a way. */
function beginning(way, share) {
  const goal = way.length * share, found = [way.corners[0]];
  for (let i = 1; i < way.corners.length; i++) {
    const [x0, y0] = way.corners[i - 1], [x1, y1] = way.corners[i];
    if (way.lengths[i] <= goal) { found.push([x1, y1]); continue; }
    const part = (goal - way.lengths[i - 1]) / (way.lengths[i] - way.lengths[i - 1] || 1);
    found.push([x0 + part * (x1 - x0), y0 + part * (y1 - y0)]);
    break;
  }
  return found;
}

/** The place on the line to `end` that is at most `reach` before it. */
function nearer([x0, y0], [x1, y1], reach) {
  const part = Math.min(reach / (Math.hypot(x1 - x0, y1 - y0) || 1), 1);
  return [x1 + part * (x0 - x1), y1 + part * (y0 - y1)];
}

/** The graph on its canvas. Boxes and edges lie on a layer that is drawn anew only if they change. */
class Picture {
  constructor(scene, canvas) {
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
    this.height = Math.round(clamp(natural, 150, TALLEST) + HEAD);
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
  isSeen(box) {
    const [x, y] = this.at(box.x, box.y), reach = this.view.scale * DPI;
    return y > HEAD - reach && y < this.height + reach && Math.abs(x - this.width / 2) < this.width / 2 + box.w * reach;
  }
  trace(c, corners) {
    c.beginPath();
    corners.forEach(([x, y], i) => {
      const [px, py] = this.at(x, y);
      if (i) c.lineTo(px, py);
      else c.moveTo(px, py);
    });
  }
  drawEdge(c, edge, isOver) {
    const scale = this.view.scale, end = edge.way[edge.way.length - 1], begin = edge.way[0];
    const ys = [this.at(...begin)[1], this.at(...end)[1]];
    if (Math.max(...ys) < HEAD - 40 || Math.min(...ys) > this.height + 40) return; // all but loops
    c.save();
    const isFew = this.scene.edges.length <= MANY;
    c.globalAlpha = (isFew ? (isOver ? 0.95 : 0.4) : 0.3) * (edge.crosses ? 1 : 0.85);
    c.strokeStyle = c.fillStyle = edge.crosses ? this.colours.ink : this.colours.faint;
    c.lineWidth = (edge.crosses ? 1.6 : 1.1) * clamp(scale, 0.5, 1.4);
    c.setLineDash(edge.crosses && isFew ? [6 * scale, 3 * scale] : []);
    c.lineJoin = "round";
    this.trace(c, edge.way);
    c.stroke();
    c.setLineDash([]);
    const [x, y] = this.at(...end), tip = 3.6 * clamp(scale, 0.5, 1.4);
    c.beginPath();
    c.moveTo(x - tip, y - 1.7 * tip);
    c.lineTo(x + tip, y - 1.7 * tip);
    c.lineTo(x, y);
    c.fill();
    c.restore();
  }
  outlineOf(c, box, grown = 0) {
    const scale = this.view.scale * DPI, height = this.scene.size.box[1] * scale;
    const [x, y] = this.at(box.x, box.y), width = box.w * scale;
    c.beginPath();
    c.roundRect(x - width / 2 - grown, y - height / 2 - grown, width + 2 * grown, height + 2 * grown,
      (box.block ? 1 : 6 * this.view.scale) + grown);
    return [x, y, width, height];
  }
  drawBox(c, box, i, isOver, isBegun) {
    const colour = this.scene.devices[box.devices[0]].colour, scale = this.view.scale;
    c.save();
    const [x, y, width, height] = this.outlineOf(c, box);
    c.fillStyle = this.colours.panel;
    c.fill();
    const share = (isOver || isBegun ? 0.3 : 0.08) * (box.quiet ? 0.5 : 1);
    c.globalAlpha = share;
    if (box.block) this.fillParts(c, box, x, y, width, height);
    else {
      c.fillStyle = colour;
      c.fill();
    }
    c.globalAlpha = isOver ? 1 : 0.55;
    this.outlineOf(c, box);
    c.strokeStyle = box.block ? this.colours.ink : colour;
    c.lineWidth = (box.quiet ? 0.9 : 1.5) * clamp(scale, 0.6, 1.5);
    if (!isOver && !isBegun) c.setLineDash([3 * scale, 2.5 * scale]);
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = isOver || isBegun ? 1 : 0.72;
    this.words(c, box, i, x, y, box.quiet ? this.colours.faint : this.colours.ink);
    if (isOver && scale > DETAIL) this.check(c, x + width / 2 - 2 * scale, y - height / 2 + 1.5 * scale, scale, colour);
    c.restore();
  }
  /** Fill the parts of a loop or cond that are on devices of their own. */
  fillParts(c, box, x, y, width, height, only = -1) {
    const scale = this.view.scale * DPI;
    for (const column of this.scene.columns) {
      if (!box.devices.includes(column.device) || (only >= 0 && column.device !== only)) continue;
      const [left] = this.at(column.left, 0);
      const from = Math.max(left, x - width / 2), to = Math.min(left + column.width * scale, x + width / 2);
      c.fillStyle = this.scene.devices[column.device].colour;
      c.fillRect(from, y - height / 2, to - from, height);
    }
  }
  check(c, x, y, scale, colour) {
    c.beginPath();
    c.arc(x, y, 6 * scale, 0, 2 * Math.PI);
    c.fillStyle = this.colours.panel;
    c.fill();
    c.strokeStyle = colour;
    c.lineWidth = 1 * scale;
    c.stroke();
    c.beginPath();
    c.moveTo(x - 3 * scale, y);
    c.lineTo(x - 0.8 * scale, y + 2.4 * scale);
    c.lineTo(x + 3.4 * scale, y - 2.8 * scale);
    c.strokeStyle = this.colours.ink;
    c.lineWidth = 1.5 * scale;
    c.lineCap = "round";
    c.stroke();
  }
  words(c, box, i, x, y, ink) {
    const scale = this.view.scale;
    if (scale < DETAIL) return;
    const [title, below, sizeTitle, sizeBelow] = this.fittedWords(c, box, i);
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = ink;
    c.font = `${box.quiet ? 400 : 600} ${sizeTitle * scale}px ${FONT}`;
    c.fillText(title, x, y - 6.6 * scale);
    c.font = `400 ${sizeBelow * scale}px ${FONT}`;
    c.fillText(below, x, y + 8 * scale);
  }
  fittedWords(c, box, i) {
    if (this.fitted.has(i)) return this.fitted.get(i);
    const room = box.w * DPI - 18;
    const fit = (text, size, weight) => {
      c.font = `${weight} ${size}px ${FONT}`;
      return clamp(size * Math.min(1, room / (c.measureText(text).width || 1)), 6.5, size);
    };
    const title = (box.block ? "▸ " : "") + shorten(box.title, 22), below = shorten(box.below, 24);
    const found = [title, below, fit(title, box.quiet ? 10 : 11.5, box.quiet ? 400 : 600), fit(below, 9.5, 400)];
    this.fitted.set(i, found);
    return found;
  }

  drawLit(i, heat, event) {
    const c = this.context, box = this.scene.boxes[i], device = this.scene.devices[this.heatColour[i]];
    if (!this.isSeen(box)) return;
    const scale = this.view.scale;
    c.save();
    c.globalAlpha = heat;
    c.shadowColor = device.colour;
    c.shadowBlur = this.isGlowing ? 18 * heat * scale * this.ratio : 0;
    let [x, y, width, height] = this.outlineOf(c, box, 1.5 * heat * scale);
    c.fillStyle = box.block ? this.colours.panel : device.colour;
    c.fill();
    c.shadowBlur = 0;
    if (box.block) {
      this.fillParts(c, box, x, y, width, height, this.heatColour[i]);
      this.outlineOf(c, box, 1.5 * heat * scale);
    }
    c.strokeStyle = this.colours.ink;
    c.lineWidth = 2 * clamp(scale, 0.6, 1.5);
    c.stroke();
    if (heat > 0.5) this.words(c, box, i, x, y, this.inkOn(box, i, device));
    c.globalAlpha = 1;
    if (event !== undefined && this.scene.events.round[event])
      this.pill(`round ${this.scene.events.round[event]}`, x - width / 2 + 4 * scale, y - height / 2 - 1, device.colour, device.ink, "left");
    c.restore();
  }
  inkOn(box, i, device) {
    if (!box.block) return device.ink;
    const middle = this.scene.columns.find((column) => column.device === this.heatColour[i]);
    const covers = middle && middle.left <= box.x && box.x <= middle.left + middle.width;
    return covers ? device.ink : this.colours.ink;
  }
  drawWaiting(i, event, time, { still }) {
    const c = this.context, box = this.scene.boxes[i], scale = this.view.scale;
    if (!this.isSeen(box)) return;
    const pulse = still ? 0.8 : 0.65 + 0.35 * Math.sin(performance.now() / 260);
    c.save();
    c.shadowColor = this.colours.wait;
    c.shadowBlur = (8 + 12 * pulse) * scale * this.ratio;
    const [x, y, width, height] = this.outlineOf(c, box, 2 * scale);
    c.strokeStyle = this.colours.wait;
    c.lineWidth = 2.4 * clamp(scale, 0.6, 1.5);
    c.setLineDash([7 * scale, 3 * scale]);
    c.stroke();
    c.shadowBlur = 0;
    c.setLineDash([]);
    const since = Math.max(this.scene.asked[event], this.scene.doingOf(this.scene.events.device[event], time)[3]);
    const text = `${this.scene.blocks(event) ? "at a queue" : "waits"} ${durationText(time - since)}`;
    this.pill(text, x + width / 2 + 4 * scale, y - height / 2 - 6 * scale, this.colours["wait-ground"], "#FFFFFF", "right");
    c.restore();
  }
  /** Write words on a ground of their own, centred upright at `y`; never over other such words. */
  pill(text, x, y, ground, ink, align = "center") {
    const c = this.context, size = clamp(10 * this.view.scale, 8.5, 13);
    c.save();
    c.shadowBlur = 0;
    c.font = `600 ${size}px ${FONT}`;
    const width = c.measureText(text).width + size, height = size * 1.5;
    let left = align === "left" ? x : align === "right" ? x - width : x - width / 2;
    left = clamp(left, 2, Math.max(this.width - width - 2, 2));
    const top = y - height / 2;
    const meets = this.taken.some(([l, t, w, h]) => left < l + w && l < left + width && top < t + h && t < top + height);
    if (!meets) {
      this.taken.push([left, top, width, height]);
      c.globalAlpha = 1;
      c.beginPath();
      c.roundRect(left, top, width, height, height / 2);
      c.fillStyle = ground;
      c.fill();
      c.strokeStyle = this.colours.panel;
      c.lineWidth = 1.2;
      c.stroke();
      c.fillStyle = ink;
      c.textAlign = "left";
      c.textBaseline = "middle";
      c.fillText(text, left + size / 2, top + height / 2 + 0.5);
    }
    c.restore();
    return !meets;
  }
  outline(i) {
    const c = this.context;
    this.outlineOf(c, this.scene.boxes[i], 4);
    c.strokeStyle = this.colours.ink;
    c.lineWidth = 1.5;
    c.setLineDash([2, 2]);
    c.stroke();
    c.setLineDash([]);
  }
  glowEdge(i, heat) {
    const c = this.context;
    c.save();
    c.globalAlpha = 0.75 * heat;
    c.strokeStyle = this.scene.devices[this.edgeColour[i]]?.colour || this.colours.ink;
    c.lineWidth = 3 * clamp(this.view.scale, 0.6, 1.5);
    c.lineJoin = "round";
    this.trace(c, this.scene.edges[i].way);
    c.stroke();
    c.restore();
  }
  strokeWay(event, way) {
    const c = this.context;
    c.save();
    c.strokeStyle = this.colourOf(event);
    c.lineJoin = c.lineCap = "round";
    c.globalAlpha = 0.28;
    c.lineWidth = 5 * clamp(this.view.scale, 0.6, 1.5);
    this.trace(c, way.corners);
    c.stroke();
    c.restore();
  }
  colourOf(event) {
    return this.scene.devices[this.scene.events.source[event]]?.colour || this.colours.ink;
  }
  drawTravel(event, way, share, isFirst) {
    const c = this.context, size = clamp(this.view.scale, 0.6, 1.5);
    const behind = this.isCrowded ? beginning(way, share).slice(-2) : beginning(way, share);
    if (this.isCrowded) behind[0] = nearer(...behind, COMET);
    c.save();
    c.strokeStyle = this.colourOf(event);
    c.lineJoin = c.lineCap = "round";
    c.lineWidth = 3 * size;
    this.trace(c, behind);
    c.stroke();
    c.restore();
    this.dot(event, ...this.at(...behind[behind.length - 1]), isFirst);
  }
  dot(event, x, y, isNamed) {
    const c = this.context, size = clamp(this.view.scale, 0.6, 1.5), colour = this.colourOf(event);
    c.save();
    c.shadowColor = colour;
    c.shadowBlur = this.isCrowded ? 0 : 12 * this.ratio;
    c.beginPath();
    c.arc(x, y, 6 * size, 0, 2 * Math.PI);
    c.fillStyle = colour;
    c.fill();
    c.shadowBlur = 0;
    c.strokeStyle = this.colours.panel;
    c.lineWidth = 2;
    c.stroke();
    c.restore();
    if (!isNamed || this.view.scale < DETAIL) return;
    const bytes = this.scene.events.bytes[event], ink = this.scene.devices[this.scene.events.source[event]]?.ink || this.colours.panel;
    if (!bytes) return;
    const text = bytesText(bytes);
    this.pill(text, x + 10 * size, y, colour, ink, "left") || this.pill(text, x - 10 * size, y, colour, ink, "right");
  }
  /** Draw a tensor that has no edge: within a loop from column to column, or out to who asked. */
  drawInside(event, share) {
    const { scene } = this, maker = scene.events.maker[event], boxes = scene.events.boxes[event];
    if (maker < 0) return;
    const box = scene.boxes[maker], half = scene.size.box[1] / 2;
    const middle = (device) => {
      const column = scene.columns.find((each) => each.device === device);
      return column ? clamp(column.left + column.width / 2, box.x - box.w / 2 + 0.1, box.x + box.w / 2 - 0.1) : box.x;
    };
    if (boxes.includes(maker)) {
      const from = middle(scene.events.source[event]), to = middle(scene.events.device[event]);
      this.drawTravel(event, measured([[from, box.y + half], [to, box.y + half]]), share, false);
    } else if (!boxes.length) {
      const way = measured([[box.x, box.y + half], [box.x, box.y + half + 0.22]]);
      this.drawTravel(event, way, share, false);
      const [x, y] = this.at(box.x, box.y + half + 0.11);
      const text = `fetched to ${scene.devices[scene.events.device[event]].name}`;
      this.pill(text, x + 10, y, this.colourOf(event), scene.devices[scene.events.source[event]]?.ink || "#FFFFFF", "left");
    }
  }

  /** Let the picture vanish where it goes on beyond the border. */
  fade() {
    const c = this.context, { top, height } = this.size;
    const end = this.at(0, top + height)[1], reach = 26;
    const ends = [[this.view.y < -1, HEAD, HEAD + reach], [end > this.height + 1, this.height, this.height - reach]];
    for (const [goesOn, from, to] of ends) {
      if (!goesOn) continue;
      const ground = c.createLinearGradient(0, from, 0, to);
      ground.addColorStop(0, this.colours.panel);
      ground.addColorStop(1, this.colours.clear);
      c.fillStyle = ground;
      c.fillRect(0, Math.min(from, to), this.width, reach);
    }
  }

  drawHead(time) {
    const c = this.context, { scene } = this, scale = this.view.scale * DPI;
    c.save();
    c.fillStyle = this.colours.panel;
    c.fillRect(0, 0, this.width, HEAD);
    scene.columns.forEach((column, i) => {
      const device = scene.devices[column.device], [x] = this.at(column.left, 0), width = column.width * scale;
      const left = Math.max(x, 0), room = Math.min(x + width, this.width) - left - 12;
      if (room < 30) return;
      if (i % 2 === 0) {
        c.fillStyle = this.colours.shade;
        c.fillRect(x, 0, width, HEAD);
      }
      c.fillStyle = device.colour;
      c.fillRect(x, 0, width, 5);
      const doing = scene.doingOf(column.device, time), isWaiting = scene.isWait(doing[0]);
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillStyle = this.colours.ink;
      c.font = `600 13px ${FONT}`;
      c.fillText(this.cut(c, device.name, room), left + 6 + room / 2, 17);
      c.font = `${isWaiting ? 600 : 400} 11px ${FONT}`;
      c.fillStyle = isWaiting ? this.colours.wait : scene.quiet.has(doing[0]) ? this.colours.faint : this.colours.ink;
      c.fillText(this.cut(c, this.briefly(doing), room), left + 6 + room / 2, 34);
    });
    c.strokeStyle = this.colours.faint;
    c.globalAlpha = 0.5;
    c.beginPath();
    c.moveTo(0, HEAD - 0.5);
    c.lineTo(this.width, HEAD - 0.5);
    c.stroke();
    c.restore();
  }
  briefly(doing) {
    const [state, event] = doing;
    if (state === this.scene.waits) return `waits for ${shorten(this.scene.events.name[event], 24)}`;
    return this.scene.phrase([state, event, 0, 0]).replace(/ (from|since) .*$/, "");
  }
  cut(c, text, room) {
    const key = `${c.font}|${Math.round(room)}|${text}`;
    if (this.cuts.size > 2000) this.cuts.clear();
    if (!this.cuts.has(key)) {
      let most = text.length;
      const shown = () => (most < text.length ? text.slice(0, most) + "…" : text);
      while (most > 4 && c.measureText(shown()).width > room) most -= 1;
      this.cuts.set(key, shown());
    }
    return this.cuts.get(key);
  }
}

/** What each device does, from left to right, under the slider. */
class Strip {
  constructor(scene, canvas) {
    this.scene = scene;
    this.canvas = canvas;
    this.lane = clamp(Math.floor(130 / scene.devices.length), 9, 17);
    this.height = 9 + this.lane * scene.devices.length + 18;
  }
  resize(width) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
  }
  draw(axis, colours) {
    const c = this.canvas.getContext("2d"), { scene, lane, width } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, width, this.height);
    const x = (time) => axis.place(time) * width;
    c.fillStyle = colours.faint;
    let last = -9;
    for (let i = 0; i < scene.count; i++) {
      if (scene.events.kind[i] === TRANSFER) continue;
      const place = x(scene.start[i]);
      if (Math.abs(place - last) < 1) continue;
      c.fillRect(place - 0.5, 2, 1, 5);
      last = place;
    }
    const stripes = this.pattern(c, colours.panel), dots = this.dots(c, colours["wait-ground"]);
    scene.devices.forEach((device, k) => {
      const { start, state } = scene.doing[k], top = 9 + k * lane, names = scene.states;
      c.fillStyle = colours.shade;
      if (k % 2 === 0) c.fillRect(0, top, width, lane);
      start.forEach((time, i) => {
        const kind = names[state[i]], from = x(time), to = i + 1 < start.length ? x(start[i + 1]) : width;
        const length = Math.max(to - from, 0.75);
        if (kind === "waits") {
          c.fillStyle = dots;
          c.fillRect(from, top + lane / 2 - 2.5, length, 5);
        } else if (kind === "computes" || kind === "queues") {
          c.fillStyle = device.colour;
          c.fillRect(from, top + 2, length, lane - 4);
          if (kind === "queues") this.fill(c, dots, from, top + 2, length, lane - 4);
        } else if (kind === "receives") {
          c.fillStyle = device.colour;
          c.fillRect(from, top + lane * 0.3, length, lane * 0.4);
          this.fill(c, stripes, from, top + lane * 0.3, length, lane * 0.4);
        }
      });
    });
    this.drawScale(c, axis, colours);
  }
  fill(c, style, x, y, width, height) {
    c.fillStyle = style;
    c.fillRect(x, y, width, height);
  }
  pattern(c, colour) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const t = tile.getContext("2d");
    t.strokeStyle = colour;
    t.lineWidth = 1.6;
    for (const shift of [-6, 0, 6]) {
      t.beginPath();
      t.moveTo(shift, 6);
      t.lineTo(shift + 6, 0);
      t.stroke();
    }
    return c.createPattern(tile, "repeat");
  }
  dots(c, colour) {
    const tile = document.createElement("canvas");
    tile.width = 5;
    tile.height = 5;
    const t = tile.getContext("2d");
    t.fillStyle = colour;
    t.fillRect(0, 0, 3.4, 5);
    return c.createPattern(tile, "repeat");
  }
  drawScale(c, axis, colours) {
    const count = Math.max(Math.floor(this.width / 110), 2), y = this.height - 8;
    c.fillStyle = colours.faint;
    c.font = `400 10px ${FONT}`;
    c.textBaseline = "middle";
    for (let i = 0; i <= count; i++) {
      c.textAlign = i === 0 ? "left" : i === count ? "right" : "center";
      const place = i / count;
      c.fillRect(clamp(place * this.width - 0.5, 0, this.width - 1), this.height - 18, 1, 4);
      c.fillText(durationText(axis.time(place)), place * this.width, y);
    }
  }
}

const KEYS = "Space plays and pauses; arrows go to the next and last event; Home and End; plus, minus and 0 zoom.";

/** The whole widget: what it shows, and how it is driven. */
export class Player {
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
    const later = () => { clearTimeout(this.themed); this.themed = setTimeout(() => this.recolour(), 60); };
    this.watcher = new MutationObserver(later);
    for (const each of [document.body, document.documentElement])
      this.watcher.observe(each, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind"] });
    on(window.matchMedia("(prefers-color-scheme: dark)"), "change", later);
    this.sizer = new ResizeObserver(() => this.resize());
    this.sizer.observe(this.root);
  }
  close() {
    this.pause();
    this.undo.abort();
    this.watcher.disconnect();
    this.sizer.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.themed);
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
    this.freezer.disabled = true;
    this.freezer.textContent = "Freezing…";
    this.model.send({ do: "freeze", moment: this.time }); // behind what `tell` has set
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
    if (found >= 0) this.placeTip(event.offsetX, event.offsetY);
  }
  leave() {
    this.selected = -1;
    this.tip.hidden = true;
    this.redraw();
  }
  placeTip(x, y) {
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const right = x + 16 + width > this.picture.width ? Math.max(x - 16 - width, 0) : x + 16;
    const below = y + 14 + height > this.picture.height ? Math.max(y - 14 - height, 0) : y + 14;
    this.tip.style.transform = `translate(${right}px, ${below}px)`;
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

/** Unpack what is sent: JSON, compressed, for a step of thousands of nodes is a megabyte. */
async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

export default {
  async render({ model, el, signal }) {
    const root = document.createElement("div");
    el.append(root);
    const data = await unpacked(model.get("scene"));
    if (signal?.aborted) return;
    const player = new Player(model, root, data);
    root.player = player; // tests measure its frames
    return () => player.close();
  },
};
