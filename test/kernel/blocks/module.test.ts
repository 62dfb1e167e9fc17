// The module of the codec: its exports, its size, and the same bytes when it is built again.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import asc from "assemblyscript/asc";
import { expect, test } from "vitest";
import { bytesOf, instantiate } from "../../../src/engine/kernel/wasm/wasm-exports.ts";
import { wasmBase64 } from "../../../src/generated/blocks.ts";

const ARITY = {
  prepare: 0,
  encode32: 1,
  encode64: 1,
  encodeTimes: 1,
  decodeTimes: 4,
  decodeValues32: 5,
  decodeValues64: 5,
  arrange32: 2,
  arrange64: 2,
};
const MAX_BYTES = 14_848;
const MAX_GZIPPED_BYTES = 6_144;

test("the module has exactly the listed exports, with their arity, and a memory that does not grow", () => {
  const exports = instantiate(bytesOf(wasmBase64)) as unknown as Record<string, unknown>;
  const functions = Object.entries(exports).filter(([, value]) => typeof value === "function");
  expect(Object.fromEntries(functions.map(([name, value]) => [name, (value as () => void).length]))).toEqual(ARITY);
  expect(Object.keys(exports).length).toBe(functions.length + 1);
  const memory = exports.memory as { grow(pages: number): number };
  expect(() => memory.grow(1)).toThrow(RangeError);
});

test("the module is within its budget", () => {
  const bytes = Buffer.from(wasmBase64, "base64");
  expect(bytes.length).toBeLessThanOrEqual(MAX_BYTES);
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
});

test("the module has the same bytes when built again", async () => {
  let again = new Uint8Array();
  const { error } = await asc.main(["--config", "assembly/blocks/asconfig.json", "--target", "blocks"], {
    readFile: (name, folder) => {
      try {
        return readFileSync(resolve(folder, name), "utf8");
      } catch {
        return null;
      }
    },
    writeFile: (name, contents) => {
      if (name.endsWith(".wasm")) again = contents as Uint8Array<ArrayBuffer>;
    },
    listFiles: () => null,
  });
  expect(error).toBeNull();
  expect(Buffer.from(again).toString("base64")).toBe(wasmBase64);
});
