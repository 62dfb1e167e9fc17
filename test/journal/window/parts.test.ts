// Blocks and checksums of sealed chunks in Lua, for the function oriel_window.
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import "../../../src/entries/index.ts";
import { composeFunction } from "../../../scripts/lua/compose-script.mjs";
import { Checksum } from "../../../src/engine/journal/sealed/checksum.ts";
import { encodeBlock } from "../../../src/engine/kernel/blocks/block.ts";
import { readHead } from "../../../src/engine/kernel/blocks/head.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { readTotals } from "../../../src/engine/kernel/blocks/totals.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { RANDOM_BITS, TIMES, timesOf, VALUES, valuesOf } from "../../kernel/blocks/shapes.ts";
import { randomOf, TYPES } from "../../kernel/columns.ts";

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
});

/** The script of a file beside this one, without its first line. */
function scriptOf(name: string): string {
  const text = composeFunction(fileURLToPath(new URL(name, import.meta.url)));
  return text.slice(text.indexOf("\n") + 1);
}

const COUNTS = [1, 2, 31, 32, 33, 65, 300, 1024];
const f64s = (values: ArrayLike<number>) => Buffer.from(Float64Array.from(values).buffer);

test.each([...Object.keys(VALUES), RANDOM_BITS])("a block of %s values is decoded to the bit", async (shape) => {
  const script = scriptOf("./decode-block.lua");
  const random = randomOf(5);
  for (const Type of TYPES)
    for (const timing of Object.keys(TIMES))
      for (const count of COUNTS.filter((each) => each < 300 || random() < 0.3)) {
        const values = valuesOf(shape, Type, count, random);
        const times = timesOf(timing, count, random);
        const parts = encodeBlock(jsCodec, activeKernel(), times.slice(), values.slice());
        const { head, body, order, times: encoded, totals } = parts;
        const { earliestMs } = readTotals(readHead(head), totals);
        const data = Buffer.concat([head, body, order, encoded]);
        const decoded = await redis.callBuffer("EVAL", script, "0", data, f64s([earliestMs]));
        const got = new Float64Array(new Uint8Array(decoded as Buffer).buffer);
        const label = `${Type.name} ${timing} ${count}`;
        expect([label, [...got.subarray(0, count)]]).toEqual([label, [...times]]);
        // For toEqual -0 differs from +0, and every NaN is the same.
        expect([label, [...got.subarray(count)]]).toEqual([label, [...values]]);
      }
});

test("the checksum is that of its twin, for every length of the last word", async () => {
  const script = scriptOf("./checksum.lua");
  const random = randomOf(6);
  for (const length of [...Array.from({ length: 40 }, (_, i) => i), 255, 256, 257, 258, 259, 1000, 5003]) {
    const bytes = Uint8Array.from({ length }, () => Math.floor(256 * random()));
    const answer = (await redis.callBuffer("EVAL", script, "0", Buffer.from(bytes))) as Buffer;
    expect([length, answer.readUInt32LE()]).toEqual([length, new Checksum().add(bytes).value]);
  }
});
