// Light or dark: what the page is, and when that changes.

/** Whether an element stands on a dark ground. */
function isDark(element) {
  for (let each = element; each; each = each.parentElement) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(each).backgroundColor.match(/[\d.]+/g) || []).map(Number);
    if (blue !== undefined && alpha > 0) return 0.3 * red + 0.59 * green + 0.11 * blue < 128;
  }
  return false;
}

/** Call when the notebook's or the browser's theme changes; return what ends that. */
function onTheme(call) {
  let timer = 0;
  const undo = new AbortController(), later = () => { clearTimeout(timer); timer = setTimeout(call, 60); };
  const watcher = new MutationObserver(later);
  for (const each of [document.body, document.documentElement])
    watcher.observe(each, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind"] });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later, { signal: undo.signal });
  return () => { watcher.disconnect(); undo.abort(); clearTimeout(timer); };
}
