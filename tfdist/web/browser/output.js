// What takes the place of a still picture in an output, where scripts may run.

/** Let a view be drawn in the place of a picture; if that cannot be, the picture stays. */
async function takePlace(place, packed, draw, sheet) {
  const data = await unpacked(bytesOf(packed)), root = document.createElement("div");
  const still = [...place.childNodes], style = document.createElement("style");
  style.textContent = sheet;
  place.append(style, root);
  try {
    root.view = draw(root, data); // tests measure its frames
    for (const each of still) each.remove();
  } catch (error) {
    root.remove();
    style.remove();
    console.error(error);
    return;
  }
  const gone = new MutationObserver(() => {
    if (place.isConnected) return;
    gone.disconnect();
    root.view.close?.();
  });
  gone.observe(document.body, { childList: true, subtree: true });
}
