// Exact statistics from outlines: answers, requests and bytes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { ChunkSealer } from "../../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { wasmBlocks } from "../../../src/engine/kernel/blocks/choose.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { countingStore } from "../../harness/counting-store.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { valuesOf } from "../../kernel/blocks/shapes.ts";
import { randomOf } from "../../kernel/columns.ts";
import { expectAlike } from "../../stats/oracle.ts";

const EVENTS = 120_000;
let server: RedisServer;
let store: Store;
const { rotateBytes, sealAfterMs } = constants;

beforeAll(async () => {
  server = await startRedis();
  store = redisStore(server.url, { registry: false });
  // Only this test seals, however long it takes.
  Object.assign(constants, { rotateBytes: 100_000, sealAfterMs: 1e9 });
});
afterAll(async () => {
  Object.assign(constants, { rotateBytes, sealAfterMs });
  await store?.close();
  await server?.stop();
});

/** Records events in batches of 32, and seals what has been closed. */
async function filled(name: string, shape: string, values: "float32" | "float64"): Promise<Series> {
  const series = new Series(store, name, { retention: "1h", values });
  const column = valuesOf(shape, values === "float64" ? Float64Array : Float32Array, EVENTS, randomOf(7));
  const finite = column.map((x) => (Number.isFinite(x) ? x : 1));
  for (let from = 0; from < EVENTS; from += 32) {
    const recorded = series.recordMany(finite.subarray(from, from + 32));
    if (from % 1024 === 0) await recorded;
  }
  const key = store.keyOf(name);
  const { header } = await store.run(read, key, "header");
  const sealer = new ChunkSealer(store, key, () => ({ codec: wasmBlocks() ?? jsCodec, kernel: activeKernel() }));
  for (let number = header!.number - 1; ; number--) {
    const outcome = await sealer.seal(number);
    if (outcome === "missing") {
      expect(header!.number - 1 - number).toBeGreaterThan(2);
      return series;
    }
    expect(["sealed", "not smaller"]).toContain(outcome);
  }
}

describe.each(["float32", "float64"] as const)("%s", (values) => {
  test.each(["lognormal to 1 us", "lognormal", "ties", "wide", "random bits"])(
    "%s: the same answers as from the events, in three requests",
    async (shape) => {
      const name = `${values} ${shape}`;
      const series = await filled(name, shape, values);
      for (const [span, percentiles] of [
        ["50m", [50, 90, 99]],
        ["50m", [0, 1, 25, 99.99, 100]],
        ["50m", []],
        [40, [50, 90, 99]],
        [7, [50]],
      ] as const)
        for (const closed of ["right", "both"] as const) {
          const { store: counting, requests, names } = countingStore(store);
          const other = new Series(counting, name, { retention: "1h", values });
          expect(other.explain().plan).toBe("outlines");
          const found = await other.stats({ span, percentiles, closed });
          const same = await series.stats({ span, percentiles, closed, at: found.to });
          expectAlike(found, same);
          // A sum that is too large for an f64 is computed from the events.
          if (Number.isFinite(found.sum)) {
            expect(names).not.toContain("journal/read");
            expect(requests()).toBeLessThanOrEqual(3);
          }
          await other.close();
        }
      await series.close();
    },
  );
});
