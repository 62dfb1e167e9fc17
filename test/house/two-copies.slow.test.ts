import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../../src/generated/version.ts";
import type { MemoryStore } from "../../src/store/memory/memory.ts";
import { root } from "./sources.ts";

type Oriel = typeof import("../../src/entries/index.ts");
type Http = typeof import("../../src/entries/http.ts");
interface Copy {
  oriel: Oriel;
  http: Http;
}

const folder = mkdtempSync(join(tmpdir(), "oriel-copies-"));
const load = createRequire(import.meta.url);
let esm: Copy;
/** Each other copy in one process: the CommonJS form, and another version. */
const others: Record<string, Copy> = {};

async function copyAt(dist: string): Promise<Copy> {
  const at = (name: string) => import(pathToFileURL(join(dist, name)).href);
  return { oriel: await at("index.js"), http: await at("http.js") };
}

beforeAll(async () => {
  const dist = join(root, "dist");
  esm = await copyAt(dist);
  others.CommonJS = { oriel: load(join(dist, "index.cjs")), http: load(join(dist, "http.cjs")) };
  const older = join(folder, "dist");
  cpSync(dist, older, { recursive: true });
  for (const name of readdirSync(older).filter((name) => name.endsWith(".js"))) {
    const file = join(older, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(`\`${version}\``, '"0.0.9"'));
  }
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  others["another version"] = await copyAt(older);
});
afterAll(() => rmSync(folder, { recursive: true }));

const policies = ({ oriel }: Copy) => [oriel.fixedWindow({ limit: 5, span: "1h" })];
const ANOTHER = /another copy (of oriel )?in this process/;

describe.each(["CommonJS", "another version"])("beside the ESM form, %s", (name) => {
  const pairs = () =>
    [
      [esm, others[name]!],
      [others[name]!, esm],
    ] as const;

  test("is another copy", () => {
    expect(others[name]!.oriel.Limiter).not.toBe(esm.oriel.Limiter);
  });

  test("decisions and errors are known to both, and so is the wish not to retry", async () => {
    for (const [one, two] of pairs()) {
      const limiter = new one.oriel.Limiter(one.oriel.memoryStore(), policies(two), { name: "d" });
      const request = { ip: "203.0.113.7" };
      const response = { getHeader() {}, setHeader() {}, end() {}, once() {}, statusCode: 200 };
      await two.http.expressLimiter(limiter)(request, response as never, () => {});
      expect(one.http.decisionOf(request)).toMatchObject({ allowed: true });
      const made = () => new two.oriel.Limiter(undefined as never, [], { name: "n" });
      expect(made).toThrow(one.oriel.OrielError);
      class Own extends one.oriel.OrielError {}
      expect(new two.oriel.OrielError("LOST", "x") instanceof Own).toBe(false);
      expect(new Own("LOST", "x")).toBeInstanceOf(Own);
      expect({} instanceof one.oriel.OrielError).toBe(false);
      const queue = new one.oriel.DelayQueue(one.oriel.memoryStore(), "q");
      await queue.add({});
      const [claimed] = await queue.claim();
      await queue.nack(claimed!, { error: new two.oriel.DoNotRetryError("never") });
      expect((await queue.counts()).dead).toBe(1);
    }
  });

  test("a structure of one copy is refused by the other by name, where it cannot be used", async () => {
    for (const [one, two] of pairs()) {
      const store = two.oriel.memoryStore();
      const counters = new two.oriel.Counters(store, "c", { dimensions: ["d"] }) as never;
      const limiter = new two.oriel.Limiter(store, policies(two), { name: "l" });
      expect(() => one.oriel.Lock.all([new two.oriel.Lock(store, "l") as never])).toThrow(ANOTHER);
      expect(() => new one.oriel.DrainService({ counters, sink: {} as never })).toThrow(ANOTHER);
      expect(() => new one.oriel.CountersDoctor(counters, { ledger: async () => [] })).toThrow(ANOTHER);
      const asked = [
        one.oriel.Limiter.takeAll([{ limiter: limiter as never, id: "a" }], { tag: "a" }),
        one.oriel.Series.stats([new two.oriel.Series(store, "s") as never]),
      ];
      for (const each of asked) await expect(each).rejects.toThrow(ANOTHER);
    }
  });

  test("exporters report the structures of both on one store", async () => {
    for (const [one, two] of pairs()) {
      // A store that a user has written is of no copy.
      const inner = two.oriel.memoryStore();
      const store = { ...inner, run: inner.run, keyOf: inner.keyOf, monotonic: inner.monotonic } as never;
      const registry = one.oriel.registerAll(store);
      const limiter = new two.oriel.Limiter(store, policies(two), { name: "foreign" });
      await limiter.take("a");
      const text = await one.oriel.prometheusText(registry);
      const line = 'oriel_limiter_decisions_total{name="foreign",policy="fixed-window",outcome="allowed"} 1';
      expect(text.split("\n")).toContain(line);
    }
  });
});

const USES: Record<string, (copy: Copy, store: MemoryStore) => Promise<unknown>> = {
  async Series({ oriel }, store) {
    const series = new oriel.Series(store, "x");
    await series.record(1);
    const { count } = await series.stats();
    await series.close();
    return count;
  },
  async Limiter({ oriel }, store) {
    const policies = [oriel.slidingWindow({ limit: 4, span: "1h" }), oriel.gcra({ limit: 4, span: "1h" })];
    return 4 - (await new oriel.Limiter(store, policies, { name: "x" }).take("a")).remaining;
  },
  async Counters({ oriel }, store) {
    const counters = new oriel.Counters(store, "x", { dimensions: ["d"] });
    await counters.add({ d: "a" });
    const [row] = await counters.read({ bucket: "day" });
    await counters.close();
    return row!.count;
  },
  async DelayQueue({ oriel }, store) {
    const queue = new oriel.DelayQueue(store, "x");
    await queue.add({});
    return (await queue.counts()).due;
  },
  async SeriesGroup({ oriel }, store) {
    const group = new oriel.SeriesGroup(store, "g", { labels: ["a"] });
    await group.record(1, { a: "b" });
    const { rows } = await group.stats();
    await group.close();
    return rows[0]!.count;
  },
  async ShardedSeries({ oriel }, store) {
    const series = new oriel.ShardedSeries(store, "sharded", { shards: 2 });
    await series.record(1);
    const { count } = await series.stats();
    await series.close();
    return count;
  },
  async ShardedSeriesGroup({ oriel }, store) {
    const group = new oriel.ShardedSeriesGroup(store, "sharded group", { labels: ["a"], shards: 2 });
    await group.record(1, { a: "b" });
    const { rows } = await group.stats();
    await group.close();
    return rows[0]!.count;
  },
  async LockedWindow({ oriel }, store) {
    return (await new oriel.LockedWindow(store, "w", { span: "1m" }).addAndGetStats(1)).count;
  },
};

test.each(Object.entries(USES))("%s: both forms use one store in memory, one after the other", async (_, use) => {
  for (const owner of [esm, others.CommonJS!]) {
    const store = owner.oriel.memoryStore();
    const copies = [esm, others.CommonJS!, esm];
    for (const [i, copy] of copies.entries()) expect(await use(copy, store)).toBe(i + 1);
  }
});

test("a limiter of another version is refused by a store in memory, and the value is not called damaged", () => {
  const own = pathToFileURL(join(root, "dist", "index.js")).href;
  const older = pathToFileURL(join(folder, "dist", "index.js")).href;
  const program = `import * as one from "${own}"; import * as two from "${older}";
    const limiter = new two.Limiter(one.memoryStore(), [two.fixedWindow({ limit: 1, span: "1m" })], { name: "m" });
    await limiter.take("a").catch(({ code, message }) => console.log(code, message));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(printed).toMatch(/^MISMATCH Limiter "m" take: the store in memory is of another copy of oriel/);
});
