// The strokes of a timeline: lanes, bars, names where they fit, arrows, the axis.

/** How a timeline is drawn; `Timeline` says what of it, and where. */
class TimelineDrawing extends TimeView {
  draw() {
    const c = this.emptied();
    if (!c) return;
    this.patterns ||= this.makePatterns(c);
    this.drawBands(c);
    this.clipLanes(c);
    for (const [start, width] of this.data.cuts) {
      c.fillStyle = this.patterns.cut;
      c.fillRect(this.x(start), 0, this.x(start + width) - this.x(start), this.height - AXIS);
    }
    const seen = this.drawBars(c);
    this.drawArrows(c, seen);
    this.drawTitles(c, seen);
    for (const i of [this.over, this.pinned]) if (i >= 0) this.outline(c, i, i === this.pinned);
    c.restore();
    this.drawAxis(c);
  }

  drawBands(c) {
    this.bands.forEach((band, i) => {
      const device = this.data.devices[i], mark = device.needed > device.count ? (band.isOpen ? "▾ " : "▸ ") : "";
      this.drawBand(c, i, band, mark + device.name, device.colour);
    });
  }

  /** Draw the bars in sight and return them, lane by lane; what lies on one pixel is drawn once. */
  drawBars(c) {
    const { bars } = this, lanes = new Map();
    for (const i of bars.order) {
      if (bars.start[i] > this.to) break;
      if (bars.end[i] < this.from) continue;
      const key = this.y(i);
      if (!lanes.has(key)) lanes.set(key, []);
      lanes.get(key).push(i);
    }
    for (const found of lanes.values()) {
      let drawnTo = -Infinity;
      for (const i of found) {
        const [left, top, width, height] = this.box(i);
        if (left + width < drawnTo + 0.35 && width <= 1) continue;
        drawnTo = Math.max(drawnTo, left + width);
        this.drawBar(c, i, left, top, width, height);
      }
    }
    return lanes;
  }
  drawBar(c, i, left, top, width, height) {
    const { bars } = this, kind = bars.kind[i];
    c.globalAlpha = this.matched?.size && !this.matched.has(i) ? 0.25 : 1;
    c.fillStyle = bars.quiet[i] ? this.colours.faint : bars.deviceOf(i).colour;
    if (kind !== COMPUTE || bars.quiet[i]) c.globalAlpha *= 0.35;
    c.fillRect(left, top, width, height);
    if (kind !== COMPUTE) {
      c.globalAlpha *= 2;
      c.fillStyle = this.patterns[kind];
      if (width > 3) c.fillRect(left, top, width, height);
    }
    c.globalAlpha = this.matched?.size && !this.matched.has(i) ? 0.25 : 1;
    const held = this.x(bars.end[i]) - this.x(bars.end[i] - bars.held[i]);
    if (held > 2) {
      c.fillStyle = this.colours.panel;
      c.fillRect(left + width - held, top, held, height);
    }
    if (width > 5 && height > 4) {
      c.strokeStyle = kind === COMPUTE ? this.colours.panel : this.colours.faint;
      c.lineWidth = 0.7;
      c.strokeRect(left, top, width, height);
    }
    if (bars.disturbed[i] && height > 4) {
      c.strokeStyle = this.colours.wait;
      c.setLineDash([3, 2]);
      c.lineWidth = 1.2;
      c.strokeRect(left, top - 1, width, height + 2);
      c.setLineDash([]);
    }
    c.globalAlpha = 1;
  }

  /** Write names inside of bars, or beside them where nothing is in the way. */
  drawTitles(c, seen) {
    const { bars } = this;
    c.textBaseline = "middle";
    for (const found of seen.values()) {
      const lane = this.bands[bars.device[found[0]]].lane;
      if (lane < 9) continue;
      c.font = `400 ${Math.min(11, lane * 0.85)}px ${FONT}`;
      let free = NAMES_WIDTH;
      found.forEach((i, k) => {
        if (bars.quiet[i]) return;
        const [left, top, width, height] = this.box(i), y = top + height / 2 + 0.5;
        const next = k + 1 < found.length ? this.box(found[k + 1])[0] : this.width;
        const from = Math.max(left, NAMES_WIDTH), inside = Math.min(left + width, this.width) - from;
        const isHidden = left < free - 1 || next < left + width - 1; // others lie over it
        free = Math.max(free, left + width);
        if (isHidden) return;
        const name = bars.title(i), needed = Math.min(c.measureText(name).width, 220);
        c.textAlign = "left";
        if (inside >= 26) {
          const isPlain = bars.kind[i] === COMPUTE;
          const text = this.cutTo(c, name, inside - 6), size = c.measureText(text).width;
          if (!isPlain && text) {
            c.fillStyle = this.colours.panel;
            c.fillRect(from + 2, top + 1, size + 3, height - 2);
          }
          c.fillStyle = isPlain ? bars.deviceOf(i).ink : this.colours.ink;
          c.fillText(text, from + 3, y);
        } else if (next - left - width > needed + 8) {
          const text = this.cutTo(c, name, 220);
          c.fillStyle = this.colours.ink;
          c.fillText(text, left + width + 3, y);
          free = left + width + 5 + c.measureText(text).width;
        }
      });
    }
  }

  /** Draw the ways of tensors: of all bars in sight if they are few, and of those that are told of. */
  drawArrows(c, seen) {
    const { bars } = this, all = [...seen.values()].flat().filter((i) => bars.kind[i] === TRANSFER && bars.makers[i].length);
    if (all.length <= FEW_ARROWS) for (const i of all) this.arrow(c, bars.makers[i][0], i, 0.45, 1);
    for (const i of new Set([this.over, this.pinned]))
      if (i >= 0) {
        for (const maker of bars.makers[i]) this.arrow(c, maker, i, 0.9, 1.6);
        for (const taker of bars.takers[i].slice(0, 60)) this.arrow(c, i, taker, 0.9, 1.6);
      }
  }
  arrow(c, from, to, alpha, width) {
    const [left, top, wide, high] = this.box(from), [goal, goalTop, , goalHigh] = this.box(to);
    const x0 = left + wide, isDown = goalTop > top, isLevel = goalTop === top;
    const y0 = isLevel ? top + high / 2 : isDown ? top + high : top, y1 = isLevel ? goalTop + goalHigh / 2 : isDown ? goalTop : goalTop + goalHigh;
    c.save();
    c.globalAlpha = alpha;
    c.strokeStyle = c.fillStyle = this.colours.ink;
    c.lineWidth = width;
    c.beginPath();
    c.moveTo(x0, y0);
    const bow = Math.min(Math.abs(y1 - y0) * 0.25, 30);
    c.bezierCurveTo(x0 + bow, y0, goal + bow / 2, y1 - (y1 - y0) / 3, goal, y1);
    c.stroke();
    const tip = isDown ? -4 : 4;
    c.beginPath();
    if (isLevel) { c.moveTo(goal - 4, y1 - 3); c.lineTo(goal - 4, y1 + 3); }
    else { c.moveTo(goal - 3, y1 + tip); c.lineTo(goal + 3, y1 + tip); }
    c.lineTo(goal, y1);
    c.fill();
    c.restore();
  }
  outline(c, i, isPinned) {
    const [left, top, width, height] = this.box(i);
    c.strokeStyle = this.colours.ink;
    c.lineWidth = isPinned ? 2 : 1.2;
    c.strokeRect(left - 1, top - 1, width + 2, height + 2);
  }

  /** A time since the step's beginning, as fine as the axis is; what is cut out has passed too. */
  timeText(place, step) {
    let time = place;
    for (const [start, width, duration] of this.data.cuts) if (place > start) time += (duration - width) * Math.min((place - start) / width, 1);
    const [size, unit] = this.data.span >= 2e6 ? [1e6, "s"] : this.data.span >= 2000 ? [1e3, "ms"] : [1, "µs"];
    const digits = clamp(-Math.floor(Math.log10(step / size) + 1e-9), 0, 6);
    return `${(time / size).toFixed(digits)} ${unit}`;
  }
}
