// The strokes of a graph: frames, edges, boxes in their colours, what is written in them.

/** How a graph is drawn; `GraphPicture` says what of it, and where. */
class GraphDrawing extends CanvasView {
  draw() {
    const c = this.emptied();
    if (!c) return;
    const unit = DPI * this.scale, { shown } = this;
    for (const [x, y, width, height, depth, title] of shown.frames) {
      const [left, top] = this.at(x, y);
      c.beginPath();
      c.roundRect(left, top, width * unit, height * unit, 8 * this.scale);
      c.fillStyle = depth % 2 ? this.colours.panel : this.colours.shade;
      c.fill();
      c.strokeStyle = this.colours.faint;
      c.lineWidth = 1;
      c.stroke();
      this.write(c, title, left + 9 * this.scale, top + 14 * this.scale, 11, 600, "left", width * unit - 14 * this.scale);
    }
    for (const wire of shown.wires) this.wire(c, wire);
    c.textAlign = "center";
    for (const [x, y, text] of shown.labels) this.label(c, text, ...this.at(x, y));
    if (shown.aside) {
      const [left, top] = this.at(0.1, shown.aside);
      c.fillStyle = this.colours.faint;
      c.fillRect(left, top, (shown.size[0] - 0.2) * unit, 1);
      this.write(c, "set aside: connected with so much that the edges are not drawn", left, top + 13 * this.scale, 9.5, 400, "left", Infinity);
    }
    shown.boxes.forEach((box, i) => this.box(c, box, i));
  }

  wire(c, [points, tensors, hasTip]) {
    const at = (k) => this.at(points[2 * k], points[2 * k + 1]);
    c.beginPath();
    c.moveTo(...at(0));
    c.lineTo(...at(1));
    c.bezierCurveTo(...at(2), ...at(3), ...at(4));
    c.lineTo(...at(5));
    c.strokeStyle = c.fillStyle = tensors > 1 ? this.colours.ink : this.colours.faint;
    c.lineWidth = Math.min(1 + 0.5 * Math.max(tensors - 1, 0) ** 0.6, 4) * clamp(this.scale, 0.4, 1.2);
    c.setLineDash(tensors ? [] : [1.5, 3]);
    c.stroke();
    c.setLineDash([]);
    if (!hasTip) return;
    const [x, y] = at(5), tip = 4 * clamp(this.scale, 0.4, 1.2);
    c.beginPath();
    c.moveTo(x - tip, y - 2 * tip);
    c.lineTo(x + tip, y - 2 * tip);
    c.lineTo(x, y);
    c.fill();
  }
  label(c, text, x, y) {
    const size = 9 * this.scale;
    if (size < 5) return;
    c.font = `400 ${size}px ${FONT}`;
    const width = c.measureText(text).width;
    c.fillStyle = this.colours.panel;
    c.fillRect(x - width / 2 - 1, y - size * 0.6, width + 2, size * 1.2);
    c.fillStyle = this.colours.ink;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(text, x, y);
  }
  box(c, [x, y, wide, high, title, below, shares, opens, times, members], i) {
    const [left, top] = this.at(x, y), unit = DPI * this.scale, width = wide * unit, height = high * unit;
    if (left > this.width || top > this.height || left + width < 0 || top + height < 0) return;
    const isNode = members.length === 1, radius = isNode ? height / 2.5 : 2;
    for (let k = times > 1 ? 2 : 0; k > 0; k--) {
      c.beginPath();
      c.rect(left + 4 * k * this.scale, top - 4 * k * this.scale, width, height);
      this.paintOver(c, this.colours.panel, 1);
      c.stroke();
    }
    c.save();
    c.beginPath();
    c.roundRect(left, top, width, height, radius);
    this.paintOver(c, this.colours.panel, 1);
    c.clip();
    let from = left;
    for (const [key, part] of shares) {
      const [colour, alpha, share] = this.data.scaled ? [this.data.hot, 0.75 * part, 1] : [this.data.keys[key][1], 0.22, part];
      c.globalAlpha = alpha;
      c.fillStyle = colour;
      c.fillRect(from, top, width * share, height);
      if (!this.data.scaled) {
        c.globalAlpha = 1;
        c.fillRect(from, top + height - 4 * this.scale, width * share, 4 * this.scale);
      }
      from += width * share;
    }
    c.restore();
    c.beginPath();
    c.roundRect(left, top, width, height, radius);
    const isIt = i === this.over || i === this.pinned;
    c.strokeStyle = isNode && !isIt ? this.colours.faint : this.colours.ink;
    c.lineWidth = i === this.pinned ? 3 : isIt ? 2 : 1;
    c.stroke();
    this.write(c, (opens ? "▸ " : "") + title, left + width / 2, top + height * 0.34, 11, 600, "center", width - 4);
    this.write(c, below, left + width / 2, top + height * 0.7, 9.3, 400, "center", width - 4);
  }
  paintOver(c, colour, alpha) {
    c.globalAlpha = alpha;
    c.fillStyle = colour;
    c.strokeStyle = this.colours.faint;
    c.lineWidth = 1;
    c.fill();
  }
  /** Write a line of letters that grow with the picture, as small as they have to be for their room. */
  write(c, text, x, y, size, weight, align, room) {
    const wanted = size * this.scale;
    if (wanted < 4) return;
    c.font = `${weight} ${wanted}px ${FONT}`;
    const taken = c.measureText(text).width;
    if (taken > room) c.font = `${weight} ${(wanted * room) / taken}px ${FONT}`;
    c.fillStyle = this.colours.ink;
    c.textAlign = align;
    c.textBaseline = "middle";
    c.fillText(text, x, y);
  }
}
