// Curves of throughput over workers, and sliders that choose among them. All curves are there from
// the beginning (plots/scaling/explorable.py says how): the browser asks nobody while it is played with.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 58, right: 112, top: 26, bottom: 40 };
const CHART = 330; // pixels of the chart's height
const NARROW = 640; // pixels: of less, the sliders stand below the chart
const SLIDERS = [["workers", "workers"], ["ps", "parameter servers"], ["spare", "spare replicas"], ["share", "stragglers"]];

function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

function countText(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

const percentText = (value) => `${Number((value * 100).toPrecision(2))} %`;
const signedText = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value * 100).toFixed(0)} %`;
const manyText = (count, one) => `${countText(count)} ${one}${count === 1 ? "" : "s"}`;

/** Steps of an axis that ends at `most` or a little beyond: 1, 2 or 5 times a power of ten. */
function ticksTo(most, count) {
  const rough = most / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

/** The chart, the sliders and what they say. */
class Explorer {
  constructor(model, root, data) {
    this.model = model;
    this.root = root;
    this.data = data;
    this.choice = { ...data.chosen };
    this.first = { ...data.chosen };
    this.top = Math.max(...data.alone.flat(2), ...data.together.flat(3)) * 1.06;
    this.build();
    this.sizer = new ResizeObserver(() => this.resize());
    this.sizer.observe(this.root);
    this.unwatch = onTheme(() => readColours(this.root));
    readColours(this.root);
    this.show();
  }
  close() {
    this.sizer.disconnect();
    this.unwatch();
  }

  build() {
    const { root, model } = this;
    root.classList.add("tfdist-explorer");
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "throughput over workers");
    root.dataset.lmSuppressShortcuts = "true"; // JupyterLab has keys of its own
    const board = make("div", "tfx-board");
    this.sliders = {};
    for (const [name, label] of SLIDERS) board.append(this.slider(name, label));
    const buttons = make("div", "tfx-buttons");
    this.again = make("button", "tfx-again", { type: "button", title: "the setting it began with" }, "Back to the beginning");
    this.again.addEventListener("click", () => this.choose(this.first));
    this.freezer = make("button", "tfx-freeze", { type: "button", title: "keep this setting as a picture in the notebook" }, "Freeze");
    this.freezer.addEventListener("click", () => this.freeze());
    this.freezer.hidden = !model.send; // nobody is there who would keep it
    buttons.append(this.again, this.freezer);
    board.append(buttons);
    this.stage = make("div", "tfx-stage");
    this.chart = draw("svg", { role: "img", class: "tfx-chart", height: CHART });
    this.stage.append(this.chart);
    this.told = make("p", "tfx-told", { "aria-live": "polite" });
    root.append(board, this.stage, this.told);
  }
  slider(name, label) {
    const steps = this.data[{ workers: "workers", ps: "ps", spare: "spares", share: "shares" }[name]];
    const row = make("label", "tfx-row"), value = make("output", "tfx-value");
    const input = make("input", "", { type: "range", min: "0", max: String(steps.length - 1), step: "1", "data-name": name });
    input.disabled = steps.length < 2;
    input.addEventListener("input", () => this.choose({ ...this.choice, [name]: Number(input.value) }));
    row.append(make("span", "tfx-label", {}, label), value, input);
    this.sliders[name] = { input, value, steps };
    return row;
  }
  choose(choice) {
    this.choice = { ...choice };
    this.model.set("choice", this.choice);
    this.model.save_changes();
    this.show();
  }
  freeze() {
    askToFreeze(this.model, this.freezer, { do: "freeze", choice: this.choice });
  }

  /** The two curves at a choice: gradients or examples a second, by position of workers. */
  curves({ ps, share, spare }) {
    return { alone: this.data.alone[ps][share], together: this.data.together[ps][share][spare] };
  }
  at(choice) {
    const { data } = this, { ps, share, spare, workers } = choice, curves = this.curves(choice);
    const alone = curves.alone[workers], together = curves.together[workers];
    const without = data.together[ps][share][0][workers];
    const count = data.workers[workers], kept = data.spares[spare];
    const faster = together / without - 1, worth = (together / without) * (count / (count + kept)) - 1;
    return { alone, together, faster, worth, count, kept, step: data.steps[ps][share][spare][workers],
      speedup: (together / data.together[ps][share][0][0]) * data.workers[0], limit: data.saturation[ps][share] };
  }
  valueText(name) {
    const { steps } = this.sliders[name], value = steps[this.choice[name]];
    if (name !== "share") return countText(value);
    return value ? `${percentText(value)}, ${countText(this.data.factor)} times as long` : "none";
  }
  sentence() {
    const { data } = this, found = this.at(this.choice), servers = data.ps[this.choice.ps];
    const beside = found.kept ? ` and ${manyText(found.kept, "spare replica")}` : "";
    const gain = found.kept ? `; the spare ones bring ${signedText(found.faster)}, for the same machines ${signedText(found.worth)}` : "";
    const limit = found.limit === null ? "The parameter servers cost no time."
      : `The ${servers === 1 ? "parameter server is" : `${countText(servers)} parameter servers are`} busy all the time from ${manyText(Math.max(Math.round(found.limit), 1), "worker")} on.`;
    return `${manyText(found.count, "worker")}${beside} in step make ${countText(found.together)} ${data.unit}` +
      `${this.data.workers[0] === 1 ? `, ${countText(found.speedup)} times one worker's` : ""}; a step takes ${durationText(found.step * 1e6)}${gain}. ` +
      `Each on its own they make ${countText(found.alone)} ${data.unit}. ${limit}`;
  }

  show() {
    for (const [name, { input, value }] of Object.entries(this.sliders)) {
      const text = this.valueText(name);
      input.value = this.choice[name];
      value.textContent = text;
      input.setAttribute("aria-valuetext", text);
    }
    this.again.disabled = Object.entries(this.first).every(([name, each]) => this.choice[name] === each);
    this.told.textContent = this.sentence();
    this.chart.setAttribute("aria-label", this.told.textContent);
    this.paint();
  }
  resize() {
    this.root.classList.toggle("tfx-narrow", this.root.clientWidth < NARROW);
    const width = Math.floor(this.stage.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    this.paint();
  }
  paint() {
    if (!this.width) return;
    const { data, chart, width } = this, workers = data.workers;
    chart.setAttribute("viewBox", `0 0 ${width} ${CHART}`);
    chart.setAttribute("width", width);
    const last = workers[workers.length - 1];
    const right = width - MARGIN.right, bottom = CHART - MARGIN.bottom;
    const x = (count) => MARGIN.left + (count / last) * (right - MARGIN.left);
    const y = (rate) => bottom - (rate / this.top) * (bottom - MARGIN.top);
    const parts = this.axes(x, y, right, bottom, last);
    const way = (rates) => rates.map((rate, i) => `${i ? "L" : "M"}${x(workers[i]).toFixed(1)},${y(rate).toFixed(1)}`).join("");
    const begun = this.curves(this.first), now = this.curves(this.choice);
    for (const name of ["alone", "together"]) parts.push(draw("path", { class: `tfx-begun tfx-${name}`, d: way(begun[name]) }));
    for (const name of ["alone", "together"]) parts.push(draw("path", { class: `tfx-curve tfx-${name}`, d: way(now[name]) }));
    parts.push(...this.limit(x, right, bottom), ...this.marker(x, y, bottom, now));
    parts.push(...this.names(now, y, right));
    chart.replaceChildren(...parts);
  }
  axes(x, y, right, bottom, last) {
    const parts = [draw("text", { x: 8, y: 15, class: "tfx-title" }, this.data.unit)];
    for (const rate of ticksTo(this.top, 5)) {
      parts.push(draw("line", { class: "tfx-grid", x1: MARGIN.left, x2: right, y1: y(rate), y2: y(rate) }));
      parts.push(draw("text", { x: MARGIN.left - 8, y: y(rate) + 4, class: "tfx-tick", "text-anchor": "end" }, countText(rate)));
    }
    for (const count of ticksTo(last, 6))
      parts.push(draw("text", { x: x(count), y: bottom + 17, class: "tfx-tick", "text-anchor": "middle" }, countText(count)));
    parts.push(draw("text", { x: (MARGIN.left + right) / 2, y: bottom + 34, class: "tfx-title", "text-anchor": "middle" }, "workers"));
    const alone = this.curves(this.choice).alone[0] / this.data.workers[0], end = Math.min(last, this.top / alone);
    parts.push(draw("line", { class: "tfx-linear", x1: x(0), y1: y(0), x2: x(end), y2: y(alone * end) }));
    return parts;
  }
  /** Where the parameter servers are busy all the time. */
  limit(x, right, bottom) {
    const { limit } = this.at(this.choice), place = limit === null ? Infinity : x(Math.max(limit, 1));
    if (place > right) return [];
    const words = place > right - 120 ? { x: place - 5, "text-anchor": "end" } : { x: place + 5 };
    return [
      draw("line", { class: "tfx-limit", x1: place, x2: place, y1: MARGIN.top, y2: bottom }),
      draw("text", { class: "tfx-tick", y: bottom - 6, ...words }, "servers busy from here"),
    ];
  }
  marker(x, y, bottom, now) {
    const i = this.choice.workers, place = x(this.data.workers[i]);
    const parts = [draw("line", { class: "tfx-marker", x1: place, x2: place, y1: MARGIN.top, y2: bottom })];
    for (const name of ["alone", "together"])
      parts.push(draw("circle", { class: `tfx-dot tfx-${name}`, cx: place, cy: y(now[name][i]), r: 4.5 }));
    return parts;
  }
  /** The names at the curves' ends, apart from one another. */
  names(now, y, right) {
    const ends = [["alone", "each on its own"], ["together", "in step"]]
      .map(([name, text]) => ({ name, text, at: y(now[name][now[name].length - 1]) }))
      .sort((a, b) => a.at - b.at);
    const between = Math.max(15 - (ends[1].at - ends[0].at), 0) / 2;
    ends[0].at -= between;
    ends[1].at += between;
    return ends.map(({ name, text, at }) => draw("text", { class: `tfx-name tfx-${name}`, x: right + 8, y: at + 4 }, text));
  }
}

const explorerView = {
  async render({ model, el, signal }) {
    hideStill(model, el);
    const root = document.createElement("div");
    el.append(root);
    const data = await unpacked(model.get("curves"));
    if (signal?.aborted) return;
    const explorer = new Explorer(model, root, data);
    return () => explorer.close();
  },
};
