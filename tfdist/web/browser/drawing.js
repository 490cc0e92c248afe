// The strokes: boxes, edges, what travels, and who waits.

/** How the parts of a picture are drawn; a `Picture` says where and when. */
class Drawing {
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
