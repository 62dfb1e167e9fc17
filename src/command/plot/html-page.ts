import { drawPicture } from "./drawing/picture.ts";
import type { PictureSpec } from "./drawing/picture-spec.ts";
import { pageColors } from "./drawing/style.ts";
import { xmlText } from "./drawing/xml.ts";

/** A page narrower than the wide picture shows the narrow one. */
const NARROW_PX = 360;

/** A page without scripts and without requests. It has the picture for wide windows and for phones, light and dark. */
export function htmlPage(spec: PictureSpec, widthPx: number): string {
  const wide = drawPicture(spec, { widthPx, hasReadouts: true, id: "wide" });
  const narrow = drawPicture(spec, { widthPx: NARROW_PX, hasReadouts: true, id: "narrow" });
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${xmlText(spec.title, 200)}</title>
<style>
${pageColors()}
body { margin: 0 } main { max-width: ${widthPx}px; margin: 0 auto }
.picture { display: block; width: 100%; height: auto }
.narrow { display: none }
@media (max-width: 720px) { .wide { display: none } .narrow { display: block; max-width: 480px; margin: 0 auto } }
</style>
</head>
<body>
<main>
<div class="wide">
${wide}</div>
<div class="narrow">
${narrow}</div>
</main>
</body>
</html>
`;
}
