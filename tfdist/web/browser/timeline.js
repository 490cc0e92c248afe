// A timeline that zooms, and tells of its bars. plots/timeline/payload.py says what it is given.

const ROOM = 470; // pixels of all lanes while no device is opened
const LANE_SIZES = [3, 20], OPEN_LANE = 16; // pixels of a lane: least, most; of an opened device
const FEW_ARROWS = 40; // in sight; of more, only those of the bar that is told of are drawn
const TIMELINE_WORDS = {
  name: "timeline",
  label: "timeline of a step",
  finds: "find a node",
  whole: "whole step",
  keys: TIME_KEYS,
};

/** The bars, and where they are found again. */
class Bars {
  constructor(data) {
    Object.assign(this, data.bars);
    this.data = data;
    this.count = this.start.length;
    this.takers = this.makers.map(() => []);
    this.makers.forEach((found, i) => found.forEach((maker) => this.takers[maker].push(i)));
    this.order = [...this.start.keys()].sort((a, b) => this.start[a] - this.start[b]);
  }
  title(i) { return this.data.names[this.name[i]]; }
  deviceOf(i) { return this.data.devices[this.device[i]]; }
  /** The input that came last: what a bar could not begin before. */
  last(i) {
    const found = this.makers[i];
    return found.length ? found.reduce((a, b) => (this.end[b] > this.end[a] ? b : a)) : -1;
  }
}

class Timeline extends TimelineDrawing {
  constructor(root, data, sentence) {
    super(root, data);
    this.bars = new Bars(data);
    this.open = new Set();
    this.build(TIMELINE_WORDS, TIME_STEP, sentence);
    this.fillLegend();
    this.listen();
    this.resize();
  }

  fillLegend() {
    const { legend } = this;
    const kinds = new Set(this.bars.kind);
    for (const [kind, name, text] of [[COMPUTE, "computes", "computing"], [QUEUE, "queues", "at a queue (may wait)"], [TRANSFER, "receives", "receiving a tensor"]])
      if (kinds.has(kind)) {
        const each = make("span");
        each.append(make("i", `tfd-key-${name}`, { "aria-hidden": "true" }), text);
        legend.append(each);
      }
    if (this.bars.held.some((held) => held > 0.01 * this.data.span)) {
      const each = make("span");
      each.append(make("i", "tfd-key-held", { "aria-hidden": "true" }), "come, not taken yet");
      legend.append(each);
    }
    legend.append(make("span", "", {}, TIME_HINT));
    const needy = this.data.devices.filter((each) => each.needed > each.count).length;
    if (needy) legend.append(make("span", "", {}, "a name with ▸ opens: more ran at once than is drawn"));
    for (const note of this.data.notes) legend.append(make("span", "tfd-note", {}, note));
  }

  /** Give every device its lanes: all it needs where it was opened, else as many as the still. */
  arrange() {
    const { devices } = this.data, whole = devices.reduce((sum, each) => sum + each.count, 0);
    const size = clamp(ROOM / whole, ...LANE_SIZES);
    let top = 0;
    this.bands = devices.map((each, i) => {
      const isOpen = this.open.has(i), lanes = isOpen ? each.needed : each.count;
      const lane = isOpen ? Math.max(size, OPEN_LANE) : size;
      const band = { top, lane, height: Math.max(lanes * lane, 5), isOpen };
      top += band.height + 2;
      return band;
    });
    this.sizeCanvas(top + AXIS);
  }

  y(i) {
    const band = this.bands[this.bars.device[i]];
    return band.top + (band.isOpen ? this.bars.inner[i] : this.bars.lane[i]) * band.lane;
  }
  /** Where a bar is drawn: [left, top, width, height]. */
  box(i) {
    const left = this.x(this.bars.start[i]), lane = this.bands[this.bars.device[i]].lane;
    return [left, this.y(i) + lane * 0.12, Math.max(this.x(this.bars.end[i]) - left, 1), lane * 0.76];
  }
  at(px, py) {
    let best = -1, least = 4; // pixels beside a sliver
    for (let i = 0; i < this.bars.count; i++) {
      const lane = this.bands[this.bars.device[i]].lane, top = this.y(i);
      if (py < top || py >= top + lane) continue;
      const [left, , width] = this.box(i), away = Math.max(left - px, px - left - width, 0);
      if (away < least || (away === 0 && best < 0)) [best, least] = [i, away];
    }
    return best;
  }

  get least() { return this.data.span * 1e-5; }
  hover(event) {
    const found = event.offsetX < NAMES_WIDTH ? -1 : this.at(event.offsetX, event.offsetY);
    this.canvas.style.cursor = found >= 0 || this.opens(event.offsetX, event.offsetY) >= 0 ? "pointer" : "default";
    this.point(found, event.offsetX, event.offsetY);
  }
  opens(x, y) {
    if (x >= NAMES_WIDTH) return -1;
    const i = this.bands.findIndex((band) => y >= band.top && y < band.top + band.height);
    return i >= 0 && this.data.devices[i].needed > this.data.devices[i].count ? i : -1;
  }
  click(x, y) {
    const device = this.opens(x, y);
    if (device >= 0) {
      if (!this.open.delete(device)) this.open.add(device);
      this.arrange();
      return this.redraw();
    }
    this.pin(x < NAMES_WIDTH ? -1 : this.at(x, y));
  }

  matching(wanted) { return this.bars.order.filter((i) => this.bars.title(i).toLowerCase().includes(wanted)); }
  search(isNext) {
    super.search(isNext);
    this.matched = new Set(this.matches); // the next frame shows them all
  }
  goTo(i) { this.pin(i); }
  pin(i) {
    super.pin(i);
    if (i < 0) return;
    this.about.append(...this.related(i));
    if (this.bars.end[i] >= this.from && this.bars.start[i] <= this.to) return;
    const span = this.to - this.from;
    this.show((this.bars.start[i] + this.bars.end[i] - span) / 2, span);
  }
  /** What is known of a bar by itself. */
  told(i) {
    const { bars, data } = this, lines = [make("b", "", {}, bars.title(i))];
    const where = bars.source[i] >= 0 ? `${data.devices[bars.source[i]].name} to ${bars.deviceOf(i).name}` : `on ${bars.deviceOf(i).name}`;
    lines.push(make("div", "", {}, `${data.ops[bars.op[i]]} ${where}${bars.round[i] ? `, round ${bars.round[i]}` : ""}`));
    const size = bars.bytes[i] ? `, ${bytesText(bars.bytes[i])}` : "";
    lines.push(make("div", "", {}, `${durationText(bars.end[i] - bars.start[i])}: ${durationText(bars.start[i])} to ${durationText(bars.end[i])}${size}`));
    if (bars.waited[i] > 0) lines.push(make("div", "", {}, `was asked for ${durationText(bars.waited[i])} before it was there`));
    if (bars.held[i] > 0) lines.push(make("div", "", {}, `had come ${durationText(bars.held[i])} before it was taken`));
    if (bars.disturbed[i]) lines.push(make("div", "", {}, `disturbed on purpose: ${bars.disturbed[i]}`));
    const made = data.made[bars.name[i]];
    if (made) lines.push(make("div", "", {}, `made at ${made}`));
    return lines;
  }
  /** What it took, and what waited for it: each can be clicked. */
  related(i) {
    const { bars } = this, last = bars.last(i);
    const when = (j) => (j === last ? `, the last: ${durationText(Math.max(bars.start[i] - bars.end[j], 0))} before it began` : "");
    const later = (j) => `, began ${durationText(Math.max(bars.start[j] - bars.end[i], 0))} after it`;
    return [this.listed("takes", bars.makers[i], when), this.listed("waited for it", bars.takers[i], later)].filter(Boolean);
  }
  listed(title, found, about) {
    if (!found.length) return null;
    const list = make("div", "tfd-list");
    list.append(make("span", "tfd-faint", {}, `${title}: `));
    found.slice(0, 12).forEach((j) => {
      const what = this.bars.kind[j] === TRANSFER ? "received " : "";
      const each = make("button", "tfd-link", { type: "button", title: this.bars.title(j) }, what + shorten(this.bars.title(j), 40));
      this.on(each, "click", () => this.pin(j));
      list.append(each, make("span", "tfd-faint", {}, `on ${this.bars.deviceOf(j).name}${about(j)}  `));
    });
    if (found.length > 12) list.append(make("span", "tfd-faint", {}, `${found.length - 12} more`));
    return list;
  }
}
