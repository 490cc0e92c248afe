// What all parts use that run in the browser: constants, words, elements, places on lines.

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

function durationText(us) {
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

/** A name without its middle, if it is longer than `most` letters: see plots/shared/short_names.py. */
function shorten(name, most = 30) {
  if (name.length <= most) return name;
  const [first, ...inner] = name.split("/");
  let kept = "";
  for (const part of inner.reverse()) {
    if (`${first}/…/${part}${kept}`.length > most) break;
    kept = `/${part}${kept}`;
  }
  if (kept) return `${first}/…${kept}`;
  const head = Math.floor((most - 1) / 3);
  return `${name.slice(0, head)}…${name.slice(head + 1 - most)}`;
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

/** Put a tip beside a place in its picture, inside of that. */
function placeTip(tip, x, y, roomWidth, roomHeight) {
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = x + 16 + width > roomWidth ? Math.max(x - 16 - width, 0) : x + 16;
  const top = y + 14 + height > roomHeight ? Math.max(y - 14 - height, 0) : y + 14;
  tip.style.transform = `translate(${left}px, ${top}px)`;
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
