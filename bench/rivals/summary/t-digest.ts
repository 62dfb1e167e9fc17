import { createRequire } from "node:module";
import { ByteReader, ByteWriter } from "./byte-stream.ts";
import type { Summary } from "./summary.ts";

const require = createRequire(import.meta.url);
const MODULE = "tdigest";

/** Mean and count of each centroid in their order. A mean has 32 bits, as the values have. */
export const tDigest: Summary = {
  name: "t-digest",
  setting: "delta",
  usual: 0.01,
  module: MODULE,
  encode(values, delta) {
    const digest = open(delta);
    for (const value of values) digest.push(value);
    const writer = new ByteWriter();
    for (const { mean, n } of digest.toArray()) {
      writer.putFloat32(mean);
      writer.putCount(n);
    }
    return writer.take();
  },
  percentiles(stored, percentiles) {
    const reader = new ByteReader(stored);
    // A digest that never compresses keeps centroids apart that come in order.
    const digest = open(this.usual, 0);
    while (!reader.isAtEnd) digest.push_centroid({ mean: reader.takeFloat32(), n: reader.takeCount() });
    return percentiles.map((p) => digest.percentile(p / 100) ?? Number.NaN);
  },
};

function open(delta: number, compressAt?: number) {
  const { TDigest } = require(MODULE) as typeof import("tdigest");
  return new TDigest(delta, compressAt);
}
