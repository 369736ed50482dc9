"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const look = JSON.parse(document.getElementById("look").textContent);
  const views = new Map();
  const darkened = (text) => text.replace(/#[0-9a-f]{6}/gi, (colour) => look.dark[colour.toLowerCase()] || colour);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  async function draw(dark) {
    for (const [name, spec] of Object.entries(figures)) {
      const place = document.getElementById("chart-" + name);
      const text = JSON.stringify({ ...spec, config: look.config });
      const shown = JSON.parse(dark ? darkened(text) : text);
      const narrow = place.clientWidth < 520;
      shown.config.axis.labelLimit = narrow ? 160 : 300;
      if (narrow) {
        shown.config.axis.labelFontSize = 10; // a slice's name in full is worth more than its size
        shown.config.legend.columns = 2;
      }
      for (const axis of ["gridColor", "domainColor", "tickColor"]) shown.config.axis[axis] = style("--line");
      try {
        const old = views.get(name);
        const made = await vegaEmbed(place, shown, { actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" } });
        if (old) old.finalize();
        views.set(name, made);
        place.dataset.drawn = "yes";
      } catch (error) {
        place.textContent = "This chart could not be drawn (" + error.message + "); its numbers are below.";
        console.error(name, error);
      }
    }
    document.documentElement.dataset.drawn = "yes";
  }

  async function save(name, kind) {
    const url = await views.get(name).view.toImageURL(kind, kind === "png" ? 2 : 1);
    const link = document.createElement("a");
    link.href = url;
    link.download = name + "." + kind;
    link.click();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-save]");
    if (button) save(button.dataset.figure, button.dataset.save);
  });
  const setting = matchMedia("(prefers-color-scheme: dark)");
  let drawing = draw(setting.matches);
  const again = (dark) => { drawing = drawing.then(() => draw(dark)); };
  setting.addEventListener("change", () => again(setting.matches));
  addEventListener("beforeprint", () => { if (setting.matches) again(false); });
  addEventListener("afterprint", () => { if (setting.matches) again(true); });
})();
