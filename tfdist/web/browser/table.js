// A long table: its first rows, sorted by any column, searched in all; names have their middle cut.

const MOST_SHOWN = 200; // rows at a time
const NAME_LETTERS = 44, LONG = 24; // letters: of a name; of a cell that may have several lines
const UNITS = { "µs": 1, ms: 1e3, s: 1e6, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, "": 1 };

/** The value of a cell such as "1.5 ms" or "12 kB"; empty cells are less than all others. */
function cellValue(text) {
  const found = text.match(/^(-?[\d.,]+) ?(µs|ms|s|B|kB|MB|GB)?$/);
  return found ? Number(found[1].replaceAll(",", "")) * UNITS[found[2] || ""] : -Infinity;
}

class ListedTable {
  constructor(root, data, what) {
    this.data = data;
    this.rows = data.rows;
    this.most = data.few;
    this.order = null; // [column, is descending]
    root.classList.add("tfdist-view", "tfdist-table");
    this.find = make("input", "tfd-find", { type: "search", placeholder: "search", "aria-label": `search ${what}` });
    this.told = make("span", "tfd-found", { role: "status" });
    this.more = make("button", "", { type: "button" });
    this.table = make("table");
    const bar = make("div", "tfd-bar");
    bar.append(this.find, this.told, this.more);
    const frame = make("div", "tfd-frame");
    frame.append(this.table);
    root.append(bar, frame);
    if (data.note) root.append(make("div", "tfd-faint", {}, data.note));
    root.dataset.lmSuppressShortcuts = "true"; // JupyterLab has keys of its own
    this.find.addEventListener("input", () => this.choose());
    this.more.addEventListener("click", () => {
      this.most = this.most >= this.rows.length ? data.few : Math.max(this.most + MOST_SHOWN, MOST_SHOWN);
      this.draw();
    });
    this.buildHead();
    this.choose();
  }
  buildHead() {
    const row = make("tr");
    this.heads = this.data.header.map((name, column) => {
      const head = make("th", "", { scope: "col", "data-kind": this.kind(column) });
      const button = make("button", "tfd-link", { type: "button", title: `sort by ${name}` }, name);
      button.addEventListener("click", () => this.sort(column));
      head.append(button);
      row.append(head);
      return head;
    });
    const head = make("thead");
    head.append(row);
    this.body = make("tbody");
    this.table.append(head, this.body);
  }
  kind(column) { return this.data.numeric.includes(column) ? "number" : "text"; }
  sort(column) {
    const isNumber = this.kind(column) === "number";
    this.order = this.order?.[0] === column ? [column, !this.order[1]] : [column, isNumber];
    this.choose();
  }
  choose() {
    const wanted = this.find.value.trim().toLowerCase();
    this.rows = this.data.rows.filter((row) => !wanted || row.some((cell) => cell.toLowerCase().includes(wanted)));
    if (this.order) {
      const [column, isDown] = this.order, isNumber = this.kind(column) === "number";
      const collator = new Intl.Collator("en", { numeric: true });
      const compare = isNumber ? (a, b) => cellValue(a[column]) - cellValue(b[column]) || 0 : (a, b) => collator.compare(a[column], b[column]);
      this.rows.sort((a, b) => (isDown ? compare(b, a) : compare(a, b)));
    }
    this.heads.forEach((head, column) => {
      const isIt = this.order?.[0] === column;
      head.setAttribute("aria-sort", isIt ? (this.order[1] ? "descending" : "ascending") : "none");
    });
    this.most = this.data.few;
    this.draw();
  }
  draw() {
    const shown = this.rows.slice(0, this.most), whole = this.rows.length;
    this.body.replaceChildren(...shown.map((row) => this.line(row)));
    this.told.textContent = `${shown.length.toLocaleString("en")} of ${whole.toLocaleString("en")}`;
    this.more.hidden = whole <= this.data.few;
    this.more.textContent = this.most >= whole ? "fewer" : whole - this.most <= MOST_SHOWN ? "all" : `${MOST_SHOWN} more`;
  }
  /** What is written of a cell: tasks as one calls them, names without their middle. */
  text(cell, column) {
    if (this.data.header[column] === "node") return shorten(cell, NAME_LETTERS);
    return cell.replace(/^\/job:(\w+)\/task:(\d+)/, "$1:$2");
  }
  line(row) {
    const line = make("tr");
    row.forEach((cell, column) => {
      const each = make(column ? "td" : "th", "", { "data-kind": this.kind(column) });
      if (!column) each.setAttribute("scope", "row");
      const colour = !column && this.data.colours[cell];
      if (colour) each.append(make("span", "", { style: `color:${colour}`, "aria-hidden": "true" }, "■ "));
      const text = this.text(cell, column);
      if (text !== cell) each.title = cell;
      if (text.length > LONG) each.className = "tfd-long";
      each.append(text);
      line.append(each);
    });
    return line;
  }
}
