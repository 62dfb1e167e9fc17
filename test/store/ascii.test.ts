import { createHash } from "node:crypto";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appendScript } from "../../src/generated/scripts/journal.ts";
import type { Argument } from "../../src/store/contract.ts";
import { asciiArguments, asciiText, textOfBytes } from "../../src/store/http/ascii.ts";
import { HttpCommand } from "../../src/store/http/http-command.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The arguments that the prelude passes to the step. */
const SHOW = asciiText("#!lua\nreturn ARGV\n");
const SHOW_KEPT = asciiText('#!lua\nredis.call("SET", KEYS[1], ARGV[1])\nreturn { #ARGV }\n');

describe("arguments as ASCII", () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  /** By way of JSON, as over HTTP. */
  const travel = (args: readonly Argument[]): string[] => JSON.parse(JSON.stringify(asciiArguments(args)));
  const seenByStep = async (args: readonly Argument[]) =>
    (await redis.callBuffer("EVAL", SHOW, "0", ...travel(args))) as Buffer[];
  const asOverTcp = (arg: Argument) => (typeof arg === "object" ? Buffer.from(arg) : Buffer.from(String(arg)));

  test(`random arguments are the same bytes as over TCP (seed ${seed})`, async () => {
    const argument = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom("", "OK", "b", "tb", "\u0000", "\ud800", "a\udfffb", "\ufeff", "ä€𝄞", '"\\', "bbbb", "0", "1e21"),
      fc.double(),
      fc.maxSafeInteger(),
      fc.constantFrom(new Uint8Array(0), new Uint8Array(7), new Uint8Array(48).fill(255), new Uint8Array(65).fill(44)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { maxLength: 12 }), async (args) => {
        expect((await seenByStep(args)).map(String)).toEqual(args.map(asOverTcp).map(String));
        expect(Buffer.concat(await seenByStep(args)).equals(Buffer.concat(args.map(asOverTcp)))).toBe(true);
      }),
      { seed, numRuns: 300 },
    );
  });

  test("every length up to 200 and every byte value arrives and is stored unchanged", async () => {
    for (let length = 0; length <= 200; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length * 11) & 255);
      const shown = await redis.call("EVAL", SHOW_KEPT, "1", "k", ...travel([bytes]));
      expect(shown).toEqual([1]);
      expect((await redis.getBuffer("k"))!.equals(bytes), `${length} bytes`).toBe(true);
    }
    const all = Uint8Array.from({ length: 65_536 * 2 }, (_, i) => (i & 1 ? i >> 9 : i >> 1) & 255);
    expect((await seenByStep([all]))[0]!.equals(all)).toBe(true);
  });

  test("a view into a larger buffer is sent without the rest", async () => {
    const within = new Uint8Array(1000).fill(9);
    expect((await seenByStep([within.subarray(3, 20)]))[0]).toEqual(Buffer.alloc(17, 9));
  });

  test("a list that does not match the arguments is refused before anything runs", async () => {
    for (const args of [[], ["a"], ["a", "tt"], ["a", "b", "c"]])
      await expect(redis.call("EVAL", SHOW_KEPT, "1", "k", ...args)).rejects.toThrow(/last argument/);
  });

  test.each([false, true])("a call names its script by the SHA-1 of the text, isLocking: %s", async (isLocking) => {
    const text = asciiText(appendScript.text, isLocking);
    expect(text.split("\n", 1)).toEqual([isLocking ? "#!lua flags=allow-key-locking" : "#!lua"]);
    const script = { text: appendScript.text };
    const [command, another] = [0, 1].map(() => HttpCommand.ofScript(script, ["k"], [], false, isLocking));
    const learning = command!.learn();
    expect(another!.learn()).toBeUndefined();
    expect(another!.write(new Set())).toBe(`["EVAL",${JSON.stringify(text)},"1","k",""]`);
    await learning;
    const sha = createHash("sha1").update(text).digest("hex");
    for (const each of [command!, another!]) expect(each.write(new Set())).toBe(`["EVALSHA","${sha}","1","k",""]`);
  });

  test("the text uses 64 characters, four for three bytes", () => {
    const text = textOfBytes(Uint8Array.from({ length: 768 }, (_, i) => i & 255));
    expect(text).toMatch(/^[0-o]{1024}$/);
    expect([0, 1, 2, 3, 4, 5, 6].map((length) => textOfBytes(new Uint8Array(length)).length)).toEqual([
      0, 2, 3, 4, 6, 7, 8,
    ]);
  });
});
