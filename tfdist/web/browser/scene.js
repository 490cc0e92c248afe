// What there is to see at a moment, without a canvas.

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
