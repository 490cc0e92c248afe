// A live panel: the kernel says what it shows. Its button stops it here and now, whatever the kernel does.

const panelView = {
  render({ model, el }) {
    hideStill(model, el);
    const panel = make("div", "tfdist-panel"), shown = make("div", "tfp-shown");
    const freezer = make("button", "tfp-freeze", { type: "button", title: "stand still, as a picture in the notebook" }, "Freeze");
    let seconds = 0, stands = false;
    const show = () => {
      if (stands) return;
      seconds = model.get("seconds");
      showPanel(shown, model.get("html"));
    };
    freezer.addEventListener("click", () => {
      stands = true;
      askToFreeze(model, freezer, { do: "freeze", seconds, sight: shown.lanes?.inSight ?? null });
    });
    model.on("change:html", show);
    show();
    panel.append(shown, freezer);
    el.append(panel);
    return () => {
      model.off("change:html", show);
      shown.lanes?.close();
    };
  },
};
