// What all widgets have in common: the still beside them in the notebook, and their Freeze button.

const SOON = 700; // milliseconds in which a kernel that is free has frozen a widget

/** Hide what the notebook keeps beside a widget, as long as the widget is there to be seen. */
function hideStill(model, el) {
  const name = model.get("still");
  if (name) el.append(make("style", "", {}, `.${name} { display: none; }`));
}

/** Ask the kernel for a picture in the place of a widget. A busy one hears of it later; that is said. */
function askToFreeze(model, button, message) {
  button.disabled = true;
  button.textContent = "Freezing…";
  model.send(message);
  setTimeout(() => { button.textContent = "Stands still; a picture when the running cell has ended"; }, SOON);
}
