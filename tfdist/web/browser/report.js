// A report that plays: each place that asks for a view gets one when it can be seen. There is no
// kernel behind it, so nothing is sent, and what is set is kept by nobody.

const views = { player: playerView, explorer: explorerView };

/** What a view takes for a widget's model. */
function stillModel(values) {
  return { get: (name) => values[name], set() {}, save_changes() {} };
}

function fill(place) {
  const { view, packed, sentence } = place.dataset;
  const packedBytes = bytesOf(packed);
  place.replaceChildren();
  return views[view].render({ model: stillModel({ scene: packedBytes, curves: packedBytes, sentence }), el: place });
}

for (const place of document.querySelectorAll("[data-view]")) {
  const closed = place.closest("details:not([open])");
  if (closed) closed.addEventListener("toggle", () => fill(place), { once: true });
  else fill(place);
}
