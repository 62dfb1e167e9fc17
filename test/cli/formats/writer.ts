// One of several writer processes: node --import tsx writer.ts URL NAME RETENTION_MS FILE KEY PART PARTS
// Records its share of the file's lines, one series per key, in batches with their own times.

import type { Reading } from "../../../src/command/formats/reading.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { readingsOf } from "./data-files.ts";

const [url = "", name = "", retention = "", path = "", key = "", part = "", parts = ""] = process.argv.slice(2);
const BATCH = 100;

async function write(): Promise<void> {
  const readings = await readingsOf({ name: path, path, key: key === "" ? undefined : key });
  const share = readings.filter((_, index) => index % Number(parts) === Number(part));
  const byKey = new Map<string, Reading[]>();
  for (const reading of share) {
    const of = reading.key ?? "";
    byKey.set(of, [...(byKey.get(of) ?? []), reading]);
  }
  const store = redisStore(url);
  for (const [of, list] of byKey) {
    const series = new Series(store, `${name}:${of}`, {
      retention: Number(retention),
      values: "float64",
      clock: "event",
    });
    for (let from = 0; from < list.length; from += BATCH) {
      const batch = list.slice(from, from + BATCH);
      const values = Float64Array.from(batch, ({ value }) => value);
      await series.recordMany(values, { at: batch.map(({ atMs }) => atMs) });
    }
    await series.close();
  }
  await store.close();
}

write();
