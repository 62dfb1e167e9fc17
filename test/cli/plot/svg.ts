import { expect } from "vitest";
import { textWidthPx } from "../../../src/command/plot/axes/text-width.ts";

/** Every tag is closed by its own, attributes are quoted, nothing raw is left: enough of XML for what we write. */
export function expectWellFormed(svg: string): void {
  const open: string[] = [];
  const tag = /<(\/?)([a-z]+)((?:\s+[a-zA-Z0-9-]+="[^"<&]*(?:&#\d+;[^"<&]*)*")*)\s*(\/?)>/g;
  const rest = svg.replace(tag, (_, closing, name, _attributes, self) => {
    if (closing) expect(open.pop()).toBe(name);
    else if (!self) open.push(name);
    return "";
  });
  expect(open).toEqual([]);
  expect(rest.replace(/&#\d+;/g, "")).not.toMatch(/[<>&]/);
}

interface TextBox {
  text: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The boxes of all texts that a picture shows at once, by the same estimate of widths that the picture is made with. */
function textBoxes(svg: string): TextBox[] {
  const boxes: TextBox[] = [];
  const part =
    /<g class="panel" transform="translate\(([\d.]+) ([\d.]+)\)">|<text ([^>]*)>([^<]*)<\/text>|<g class="window">/g;
  let [dx, dy] = [0, 0];
  for (const [whole, x, y, attributes, text] of svg.matchAll(part)) {
    if (whole.startsWith('<g class="window"')) throw new Error("a picture with readouts shows texts one after another");
    if (attributes === undefined) {
      [dx, dy] = [Number(x), Number(y)];
      continue;
    }
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
    const size = Number(of("font-size"));
    const plain = (text as string).replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    const width = textWidthPx(plain, size, /class="(title|key|name)/.test(attributes));
    const anchor = { end: 1, middle: 0.5 }[of("text-anchor") ?? ""] ?? 0;
    const left = dx + Number(of("x")) - width * anchor;
    const middle = dy + Number(of("y")) - (of("dy") ? 0 : size * 0.35);
    boxes.push({ text: plain, left, right: left + width, top: middle - size * 0.45, bottom: middle + size * 0.45 });
  }
  return boxes;
}

/** No text is over another, and none is outside of the picture. */
export function expectReadable(svg: string): void {
  const [, width, height] = /<svg [^>]*width="(\d+)" height="(\d+)"/.exec(svg) as unknown as [string, string, string];
  const boxes = textBoxes(svg);
  const outside = boxes.filter(
    ({ left, right, top, bottom }) =>
      left < -0.5 || right > Number(width) + 0.5 || top < -0.5 || bottom > Number(height) + 0.5,
  );
  const over = boxes.flatMap((one, i) =>
    boxes.slice(i + 1).flatMap((other) => {
      const isOver =
        one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
      return isOver ? [[one, other]] : [];
    }),
  );
  expect({ boxCount: boxes.length, outside, over }).toEqual({ boxCount: boxes.length, outside: [], over: [] });
  expect(boxes.length).toBeGreaterThan(1);
}

/** The points of a line or band, one list for each unbroken part. */
export function pathPoints(svg: string, name: string): [x: number, y: number][] {
  const path = new RegExp(`<path class="line [a-z]+" data-name="${name}" d="([^"]*)"`).exec(svg)?.[1];
  return [...(path ?? "").matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
}
