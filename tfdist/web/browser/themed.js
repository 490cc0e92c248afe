// A picture that is light or dark as the page is: a PNG, and the table of colours of its other self.

const TABLE_AT = 33; // of the table in a PNG: behind its signature and header

function followTheme(image, table) {
  const light = image.src, bytes = bytesOf(light.slice(light.indexOf(",") + 1));
  bytes.set(bytesOf(table), TABLE_AT);
  let dark = "";
  const show = () => {
    if (!image.isConnected) return end();
    const wanted = isDark(image) ? (dark ||= URL.createObjectURL(new Blob([bytes], { type: "image/png" }))) : light;
    if (image.src !== wanted) image.src = wanted;
  };
  const unwatch = onTheme(show);
  const end = () => { unwatch(); URL.revokeObjectURL(dark); };
  show();
}
