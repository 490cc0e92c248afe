// What drawings over time have in common: which part of it is in sight, how the mouse moves that, the axis.

const NAMES_WIDTH = 92, AXIS = 26; // pixels
const TIME_STEP = 1.5; // of a zoom
const TIME_KEYS = "plus, minus and 0 zoom; arrows move; Escape forgets what was clicked.";
const TIME_HINT = "Ctrl + wheel zooms, dragging moves, a click keeps what is told";

/**
 * Lanes from left to right, with names before them. A view of one kind says `least` (the shortest time in
 * sight), `hover(event)`, `timeText(time, step)`, and what `CanvasView` asks for besides.
 */
class TimeView extends CanvasView {
  constructor(root, data) {
    super(root, data);
    this.from = 0;
    this.to = data.span;
  }
  listen() {
    super.listen();
    this.on(this.canvas, "dblclick", (event) => this.zoom(2.5, event.offsetX));
  }
  recolour() {
    this.patterns = null;
    super.recolour();
  }

  x(time) { return NAMES_WIDTH + ((time - this.from) / (this.to - this.from)) * (this.width - NAMES_WIDTH - 6); }
  timeAt(x) { return this.from + ((x - NAMES_WIDTH) / (this.width - NAMES_WIDTH - 6)) * (this.to - this.from); }
  zoom(factor, x = NAMES_WIDTH + (this.width - NAMES_WIDTH) / 2) {
    const { span } = this.data, at = this.timeAt(x), wanted = clamp((this.to - this.from) / factor, Math.min(this.least, span), span);
    this.show(at - ((at - this.from) / (this.to - this.from)) * wanted, wanted);
  }
  show(from, span) {
    this.from = clamp(from, 0, this.data.span - span);
    this.to = this.from + span;
    this.redraw();
  }
  fit() { this.show(0, this.data.span); }
  pan(share) { this.show(this.from + share * (this.to - this.from), this.to - this.from); }
  wheel(event) {
    super.wheel(event);
    if (event.defaultPrevented || Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    this.pan(event.deltaX / this.width);
  }
  get place() { return this.from; }
  move(event) {
    if (!this.drag) return this.hover(event);
    const by = event.offsetX - this.drag.x;
    this.drag.moved ||= Math.abs(by) > 3;
    if (this.drag.moved) this.show(this.drag.place - (by / (this.width - NAMES_WIDTH)) * (this.to - this.from), this.to - this.from);
  }
  keys() {
    return { ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), Escape: () => this.pin(-1) };
  }

  makePatterns(c) {
    const tile = (size, paint) => {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = size;
      paint(canvas.getContext("2d"));
      return c.createPattern(canvas, "repeat");
    };
    const stripes = (colour, width) => (t) => {
      t.strokeStyle = colour;
      t.lineWidth = width;
      for (const shift of [-6, 0, 6]) {
        t.beginPath();
        t.moveTo(shift, 6);
        t.lineTo(shift + 6, 0);
        t.stroke();
      }
    };
    const dot = (t) => { t.fillStyle = this.colours.ink; t.fillRect(1, 1, 1.6, 1.6); };
    return { [TRANSFER]: tile(6, stripes(this.colours.ink, 0.8)), [QUEUE]: tile(5, dot), cut: tile(6, stripes(this.colours.faint, 0.8)) };
  }
  /** Draw a lane's ground, which is shaded if `i` is even, and the hue and the name before it. */
  drawBand(c, i, { top, height }, name, colour) {
    c.fillStyle = this.colours.shade;
    if (i % 2 === 0) c.fillRect(NAMES_WIDTH, top, this.width - NAMES_WIDTH, height);
    c.fillStyle = colour;
    c.fillRect(NAMES_WIDTH - 5, top, 4, height);
    const size = Math.min(12, height - 1);
    if (size < 6) return;
    c.textBaseline = "middle";
    c.textAlign = "left";
    c.font = `400 ${size}px ${FONT}`;
    c.fillStyle = this.colours.ink;
    c.fillText(this.cutTo(c, name, NAMES_WIDTH - 9), 0, top + height / 2);
  }
  /** As much of a text as has room. */
  cutTo(c, text, room) {
    if (c.measureText(text).width <= room) return text;
    for (let most = text.length - 1; most > 3; most--) {
      const found = shorten(text, most);
      if (c.measureText(found).width <= room) return found;
    }
    return "";
  }
  /** Let what is drawn next stay beside the names. */
  clipLanes(c) {
    c.save();
    c.beginPath();
    c.rect(NAMES_WIDTH, 0, this.width - NAMES_WIDTH, this.height);
    c.clip();
  }

  /** How far the axis' marks are apart, at least `rough`. */
  axisStep(rough) {
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  }
  drawAxis(c) {
    const span = this.to - this.from, y = this.height - AXIS;
    const step = this.axisStep((span * 110) / (this.width - NAMES_WIDTH));
    c.strokeStyle = c.fillStyle = this.colours.faint;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(NAMES_WIDTH, y + 0.5);
    c.lineTo(this.width, y + 0.5);
    c.font = `400 11px ${FONT}`;
    c.textBaseline = "middle";
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = this.x(time), text = this.timeText(time, step), half = c.measureText(text).width / 2;
      c.moveTo(x, y);
      c.lineTo(x, y + 5);
      c.textAlign = "center";
      c.fillText(text, clamp(x, NAMES_WIDTH + half, this.width - half), y + 14);
    }
    c.stroke();
  }
}
