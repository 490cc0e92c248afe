// The strip under the picture.

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
