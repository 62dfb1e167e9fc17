import { createRequire } from "node:module";
import { ByteReader, ByteWriter } from "./byte-stream.ts";
import type { Summary } from "./summary.ts";

const require = createRequire(import.meta.url);
const MODULE = "@datadog/sketches-js";

/**
 * Its accuracy, then the value of its first bin and the count of each bin up to the last one. Its own form, protobuf, has the same
 * counts in 8 bytes each.
 */
export const ddSketch: Summary = {
  name: "DDSketch",
  setting: "relativeAccuracy",
  usual: 0.01,
  module: MODULE,
  encode(values, relativeAccuracy) {
    const sketch = open(relativeAccuracy);
    for (const value of values) sketch.accept(value);
    const { mapping, store } = sketch;
    if (store.count !== values.length) throw new Error("DDSketch put a value that is not positive into no bin");
    const writer = new ByteWriter();
    writer.putFloat64(relativeAccuracy);
    writer.putFloat64(mapping.value(store.minKey));
    for (let key = store.minKey; key <= store.maxKey; key++) writer.putCount(store.bins[key - store.offset] as number);
    return writer.take();
  },
  percentiles(stored, percentiles) {
    const reader = new ByteReader(stored);
    const sketch = open(reader.takeFloat64());
    const { mapping } = sketch;
    for (let key = mapping.key(reader.takeFloat64()); !reader.isAtEnd; key++) {
      const count = reader.takeCount();
      if (count > 0) sketch.accept(mapping.value(key), count);
    }
    return percentiles.map((p) => sketch.getValueAtQuantile(p / 100));
  },
};

function open(relativeAccuracy: number) {
  const { DDSketch } = require(MODULE) as typeof import("@datadog/sketches-js");
  return new DDSketch({ relativeAccuracy });
}
