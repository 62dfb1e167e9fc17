import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, splitLines } from "../../../src/command/formats/lines.ts";

async function linesOf(text: string | Uint8Array, chunkBytes: number, longest?: number): Promise<Line[]> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const all: Line[] = [];
  for await (const lines of splitLines(chunks(), longest)) all.push(...lines);
  return all;
}

test("reads LF, CRLF, a byte order mark and a last line without an end", async () => {
  for (const chunkBytes of [1, 2, 3, 100]) {
    const lines = await linesOf("\ufeffone\r\ntwo\n\nvier \u{1f600}", chunkBytes);
    expect(lines.map(({ text }) => text)).toEqual(["one", "two", "", "vier \u{1f600}"]);
    expect(lines.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  }
});

test("an empty input has no line", async () => {
  expect(await linesOf("", 10)).toEqual([]);
});

test("bytes that are not UTF-8 spoil their own line only, and each line may begin with byte order marks", async () => {
  const text = Buffer.from("\ufeff\ufeffone\nZ?rich\n\ufeffdrei ü\nend");
  text[text.indexOf("?")] = 0xfc;
  for (const chunkBytes of [1, 2, 3, 100])
    expect(await linesOf(text, chunkBytes)).toEqual([
      { number: 1, text: "one" },
      { number: 2, text: null, fault: "it is not UTF-8 text" },
      { number: 3, text: "drei ü" },
      { number: 4, text: "end" },
    ]);
});

test("a huge line is null and never held in memory; later lines are whole", async () => {
  const lines = await linesOf(`a\n${"x".repeat(5000)}\nb\n${"y".repeat(5000)}`, 64, 100);
  expect(lines).toEqual([
    { number: 1, text: "a" },
    { number: 2, text: null, fault: "it is too long" },
    { number: 3, text: "b" },
    { number: 4, text: null, fault: "it is too long" },
  ]);
});

test("any text is split as String.split does, wherever its chunks end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme" })),
      fc.integer({ min: 1, max: 9 }),
      async (texts, chunkBytes) => {
        const wanted = texts.map((text) => text.replace(/[\r\n\ufeff]/g, "")).concat("end");
        const lines = await linesOf(wanted.join("\n"), chunkBytes);
        expect(lines.map(({ text }) => text)).toEqual(wanted);
      },
    ),
  );
});
