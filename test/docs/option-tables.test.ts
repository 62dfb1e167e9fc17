// The tables of options on the pages say the same as the schemas: names, defaults and bounds.
import { describe, expect, test } from "vitest";
import { byteBound, wholeNumber } from "../../src/base/errors.ts";
import { type Schema, settingsOf } from "../../src/base/options.ts";
import { durationMs, parseDuration } from "../../src/base/time.ts";
import { COUNTERS } from "../../src/counters/counter/options.ts";
import { DRAIN } from "../../src/counters/drain/options.ts";
import { LOCKED_WINDOW } from "../../src/engine/locked-window/options.ts";
import { SERIES } from "../../src/engine/series/series-options.ts";
import { LOCAL_SERIES } from "../../src/engine/stats/local-series-options.ts";
import { LOCK, TRY_LOCK } from "../../src/holds/lock-options.ts";
import { SEMAPHORE } from "../../src/holds/semaphore/permit-calls.ts";
import { BREAKER } from "../../src/limits/breaker/options.ts";
import { LIMITER } from "../../src/limits/limiter/options.ts";
import { FLEET } from "../../src/metrics/fleet/options.ts";
import { messageSchema, QUEUE } from "../../src/queue/options.ts";
import { WORKER } from "../../src/queue/worker/worker-options.ts";
import { textOf } from "./blocks.ts";

/** The page, a text of the line above the table, and the schema. */
const TABLES: [page: string, above: string, schema: Schema<object>][] = [
  ["breaker", "new Breaker(store, options)", BREAKER],
  ["counters", "new Counters(store, name, options)", COUNTERS],
  ["counters", "new DrainService(options)", DRAIN],
  ["fleet", "new FleetMetrics(store, name, options)", FLEET],
  ["limiter", "new Limiter(store, policies, options)", LIMITER],
  ["local-series", "new LocalSeries(options)", LOCAL_SERIES],
  ["locked-window", "new LockedWindow(store, name, options)", LOCKED_WINDOW],
  ["locks", "new Lock(store, name, options)", LOCK],
  ["locks", "`tryLock(options)` and `withLock(fn, options)` of a lock", TRY_LOCK],
  ["queue", "new DelayQueue<Payload>(store, name, options)", QUEUE],
  ["queue", "add(payload, options)", messageSchema({ ...settingsOf(QUEUE, {}), attempts: Number.POSITIVE_INFINITY })],
  ["queue", "process(handler, options)", WORKER],
  ["semaphores", "new Semaphore(store, name, options)", SEMAPHORE],
  ["series", "new Series(store, name, options)", SERIES],
];

interface Row {
  name: string;
  absent: string;
  meaning: string;
}

function rowsOf(page: string, above: string): Row[] {
  const [, begin = ""] = textOf(`docs/structures/${page}.md`).split("\n## Options\n");
  const options = begin.split("\n## ")[0] + textOf(`docs/reference/${page}.md`);
  const [, table = ""] = /\n(\| option \|(?:.*\n\|)*.*)/.exec(options.slice(options.indexOf(above))) ?? [];
  return table
    .split("\n")
    .slice(2)
    .flatMap((line) => {
      const [, names = "", absent = "", meaning = ""] =
        line.split(" | ").length === 3 ? ["", ...line.slice(2).split(" | ")] : [];
      return [...names.matchAll(/`(\w+)`/g)].map(([, name]) => ({ name: name!, absent, meaning }));
    });
}

type Declared = readonly [check: unknown, absent?: unknown, ...bounds: unknown[]];

/** A default as pages write it, in the form of the schema. Undefined: it is prose. */
function writtenDefault(text: string, check: unknown): unknown {
  const bare = text.replace(/^`(.*)`$/, "$1");
  if (/^"\d/.test(bare) && check === durationMs) return parseDuration(JSON.parse(bare));
  if (/^(\d+|true|false|".*")$/.test(bare)) return JSON.parse(bare);
  const [, MiB] = /^(\d+) MiB$/.exec(bare) ?? [];
  return MiB === undefined ? undefined : Number(MiB) * 2 ** 20;
}

/** Bounds as pages write them: "1 to 64", "up to 1000", "100 ms to a day", "0 to 366 days", "from 10 ms". */
function writtenBounds(meaning: string): { min?: number; max?: number } {
  const [, from, to] = /\b(\d+)(?: ms)? to (a day|\d+ days?|\d+)\b/.exec(meaning) ?? [];
  const [, most] = /up to (\d+)\b/.exec(meaning) ?? [];
  const [, least] = /from (\d+) ms/.exec(meaning) ?? [];
  const max = to ?? most;
  const days = max?.endsWith("day") || max?.endsWith("days");
  return {
    ...((from ?? least) !== undefined && { min: Number(from ?? least) }),
    ...(max !== undefined && { max: days ? Number(max.replace(/^a /, "1 ").split(" ")[0]) * 86_400_000 : Number(max) }),
  };
}

describe.each(TABLES)("%s: the table of %s", (page, above, schema) => {
  const rows = rowsOf(page, above);

  test("names each option of the schema, and no other", () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(schema).sort());
  });

  test.each(rows)("$name has the default and the bounds of the schema", ({ name, absent, meaning }) => {
    const [check, declared, min, max] = (schema as Record<string, Declared>)[name]!;
    const isPlain = ["number", "string", "boolean"].includes(typeof declared) && declared !== Number.POSITIVE_INFINITY;
    if (isPlain) expect(writtenDefault(absent, check)).toBe(declared);
    // The schema has the result of the check of this duration.
    else if (typeof check === "function" && typeof declared === "object" && /^`"\d.*"`$/.test(absent))
      expect(check(name, JSON.parse(absent.slice(1, -1)))).toEqual(declared);
    // Code decides what is done without it, so the page says it in words, or "0".
    else if (declared !== undefined) expect([undefined, 0]).toContain(writtenDefault(absent, check));
    if (declared === undefined && [durationMs, wholeNumber, byteBound].includes(check as never))
      expect(absent).toBe("required");
    if (check === durationMs || check === wholeNumber) expect({ min, max }).toMatchObject(writtenBounds(meaning));
  });
});
