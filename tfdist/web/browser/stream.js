// What tasks did over time, live, to be zoomed into. plots/live/stream_payload.py says what it is given.

const STREAM_ROOM = 470; // pixels of all lanes
const STREAM_LANES = [8, 26]; // pixels of a lane: least, most
const MINUTES = 120; // seconds from which on times are told in minutes
const MINUTE_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
const STATES = [["computing", 1, null, "computes"], ["moving", 0.5, TRANSFER, "receives"], ["waiting", 0.22, QUEUE, "queues"]];
const STREAM_WORDS = {
  name: "stream",
  label: "task stream",
  finds: "find a task",
  whole: "whole watch",
  keys: TIME_KEYS,
};

class Stream extends TimeView {
  constructor(root, data) {
    super(root, data);
    this.take(data);
    this.build(STREAM_WORDS, TIME_STEP, data.sentence);
    for (const [state, , , name] of STATES) {
      const each = make("span");
      each.append(make("i", `tfd-key-${name}`, { "aria-hidden": "true" }), state);
      this.legend.append(each);
    }
    this.marksTold = make("span", "", {}, "▾ a traced step");
    this.silenceTold = make("span");
    this.silenceTold.append(make("i", "tfd-key-silent", { "aria-hidden": "true" }), "did not tell");
    this.legend.append(make("span", "", {}, "empty: idle"), this.silenceTold, this.marksTold, make("span", "", {}, TIME_HINT));
    this.listen();
    this.resize();
  }

  /** Take newer data. What is in sight stays, but the whole remains the whole, and the end the end. */
  update(data) {
    const span = this.to - this.from, isLast = this.to >= this.data.span, { isWhole } = this;
    const pinned = this.parts[this.pinned];
    this.take(data);
    this.canvas.setAttribute("aria-label", data.sentence);
    this.pinned = pinned ? this.partAt(pinned.task, (pinned.begin + pinned.end) / 2) : -1;
    this.over = -1;
    this.tip.hidden = true;
    this.matches = this.matches?.length ? this.matching(this.find.value.trim().toLowerCase()) : [];
    if (isWhole) [this.from, this.to] = [0, data.span];
    else if (isLast && !this.drag) [this.from, this.to] = [data.span - span, data.span];
    if (this.width) this.arrange();
    this.redraw();
    if (this.pointer) this.hover(this.pointer);
  }
  take(data) {
    this.data = data;
    this.parts = data.tasks.flatMap(({ parts }, task) => parts.map(([begin, end, ...shares]) => ({ task, begin, end, shares })));
  }

  get least() { return 1e-4; }
  get isWhole() { return this.from === 0 && this.to >= this.data.span; }
  /** From when to when it is seen, in seconds; null if that is the whole. */
  get inSight() { return this.isWhole ? null : [this.from, this.to]; }
  arrange() {
    const { tasks, marks } = this.data, lane = clamp(STREAM_ROOM / tasks.length, ...STREAM_LANES);
    this.head = marks.length ? 9 : 0;
    this.marksTold.hidden = !marks.length;
    this.silenceTold.hidden = this.parts.every(({ shares }) => shares.length);
    this.bands = tasks.map((_, i) => ({ top: this.head + i * lane, height: lane - 2 }));
    const height = Math.round(this.head + tasks.length * lane + AXIS), size = `${this.width} ${height}`;
    if (size !== this.size) this.sizeCanvas(height);
    this.size = size;
  }

  draw() {
    const c = this.emptied();
    if (!c) return;
    this.patterns ||= this.makePatterns(c);
    this.data.tasks.forEach(({ name, colour }, i) => this.drawBand(c, i, this.bands[i], name, colour));
    this.clipLanes(c);
    const matched = new Set(this.matches);
    this.data.tasks.forEach((_, i) => this.drawLane(c, i, matched.size && !matched.has(i) ? 0.25 : 1));
    this.drawMarks(c);
    for (const i of [this.over, this.pinned]) if (i >= 0) this.outline(c, this.parts[i], i === this.pinned);
    c.restore();
    this.drawAxis(c);
  }
  /** Fill a lane from below: what is computed is solid, what lies above it has a pattern. */
  drawLane(c, task, alpha) {
    const { top, height } = this.bands[task];
    const inSight = this.data.tasks[task].parts.filter(([begin, end]) => end > this.from && begin < this.to);
    const seen = inSight.filter(({ length }) => length > 2);
    c.globalAlpha = 0.6 * alpha;
    c.fillStyle = this.patterns.cut;
    for (const [begin, end] of inSight.filter(({ length }) => length === 2))
      c.fillRect(this.x(begin), top, this.x(end) - this.x(begin), height);
    STATES.forEach(([, strength, pattern], state) => {
      c.beginPath(); // of all at once: no seams
      for (const [begin, end, ...shares] of seen) {
        const low = shares.slice(0, state).reduce((sum, each) => sum + each, 0), left = this.x(begin);
        c.rect(left, top + height * (1 - (low + shares[state]) / 100), this.x(end) - left, (height * shares[state]) / 100);
      }
      c.globalAlpha = strength * alpha;
      c.fillStyle = this.data.tasks[task].colour;
      c.fill();
      if (pattern === null) return;
      c.globalAlpha = 0.55 * alpha;
      c.fillStyle = this.patterns[pattern];
      c.fill();
    });
    c.globalAlpha = 1;
  }
  drawMarks(c) {
    c.fillStyle = this.colours.ink;
    for (const [begin, end] of this.data.marks) {
      const x = this.x((begin + end) / 2);
      c.beginPath();
      c.moveTo(x - 4, 1);
      c.lineTo(x + 4, 1);
      c.lineTo(x, 8);
      c.fill();
    }
  }
  outline(c, { task, begin, end }, isPinned) {
    const { top, height } = this.bands[task], left = this.x(begin);
    c.strokeStyle = this.colours.ink;
    c.lineWidth = isPinned ? 2 : 1.2;
    c.strokeRect(left, top + 0.5, Math.max(this.x(end) - left, 1), height - 1);
  }

  axisStep(rough) {
    const isLong = this.data.span >= MINUTES && rough > 1;
    return (isLong && MINUTE_STEPS.find((each) => each >= rough)) || super.axisStep(rough);
  }
  timeText(time, step) {
    if (this.data.span >= MINUTES && step >= 1) {
      const seconds = Math.round(time);
      return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    }
    return `${time.toFixed(clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 6))} s`;
  }

  /** The position of what a task did at a time, or -1. */
  partAt(task, time) { return this.parts.findIndex((each) => each.task === task && each.begin <= time && time < each.end); }
  at(x, y) {
    const task = x < NAMES_WIDTH ? -1 : this.bands.findIndex(({ top, height }) => y >= top && y < top + height + 2);
    return task < 0 ? -1 : this.partAt(task, this.timeAt(x));
  }
  hover({ offsetX, offsetY }) {
    this.pointer = { offsetX, offsetY };
    this.point(this.at(offsetX, offsetY), offsetX, offsetY);
  }
  point(i, x, y) {
    if (x === undefined) this.pointer = null; // it left
    super.point(i, x, y);
  }
  click(x, y) { this.pin(this.at(x, y)); }
  told(i) {
    const { task, begin, end, shares } = this.parts[i], digits = clamp(2 - Math.floor(Math.log10(end - begin)), 1, 6);
    const did = !shares.length ? "did not tell" : STATES.map(([state], k) => (shares[k] ? `${state} ${shares[k]} %` : "")).filter(Boolean).join(", ") || "idle";
    return [
      make("b", "", {}, this.data.tasks[task].name),
      make("div", "", {}, did),
      make("div", "", {}, `${begin.toFixed(digits)} s to ${end.toFixed(digits)} s: ${durationText((end - begin) * 1e6)}`),
    ];
  }
  matching(wanted) {
    return [...this.data.tasks.keys()].filter((i) => this.data.tasks[i].name.toLowerCase().includes(wanted));
  }
  goTo() { this.redraw(); }
}

/** Show what a panel says now; lanes that are there already stay, and take what is new. */
function showPanel(place, html) {
  const made = make("template");
  made.innerHTML = html;
  const slot = made.content.querySelector("[data-stream]");
  if (!slot || !place.lanes) {
    place.lanes?.close();
    place.lanes = null;
    place.replaceChildren(made.content);
    if (slot) place.lanes = new Stream(slot, JSON.parse(slot.dataset.stream));
    return;
  }
  const { root } = place.lanes, parts = [...made.content.childNodes], at = parts.indexOf(slot);
  for (const each of [...place.childNodes]) if (each !== root) each.remove();
  root.before(...parts.slice(0, at));
  root.after(...parts.slice(at + 1));
  place.lanes.update(JSON.parse(slot.dataset.stream));
}
