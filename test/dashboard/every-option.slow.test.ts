import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  fixedWindow,
  gcra,
  Limiter,
  Lock,
  LockedWindow,
  localDecisions,
  MultiSemaphore,
  memoryStore,
  prometheusText,
  ReadWriteLock,
  registerAll,
  Semaphore,
  Series,
  SeriesGroup,
  ShardedSeries,
  ShardedSeriesGroup,
  type Store,
  slidingWindow,
} from "../../src/entries/index.ts";
import { Answers } from "../../src/operate/dashboard/answers.ts";
import { dashboardSettings } from "../../src/operate/dashboard/options.ts";
import { KINDS, kindOf } from "../../src/operate/kinds/kinds.ts";
import { Scope } from "../../src/operate/kinds/scope.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { inUse, liveOf, STRUCTURE_KINDS } from "../../src/store/registry/live.ts";
import { command } from "../cli/command.ts";
import { TableSink } from "../fuzz/table-sink.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { knownOptionsOf, type StructureName, structures } from "../matrix/structures.ts";

/** Values of each option that differ from the default. */
type Values = Record<string, readonly unknown[]>;

interface Made {
  kind: string;
  matrix: StructureName;
  values: Values;
  make(store: Store, name: string, options: Record<string, unknown>): unknown;
}

const policies = [
  [fixedWindow({ limit: 3, span: "1m" })],
  [slidingWindow({ limit: 3, span: "1m" }), gcra({ limit: 3, span: "1m", burst: 2 })],
  () => [fixedWindow({ limit: 3, span: "1m" })],
] as never[];

const GROUP_VALUES = {
  labels: [["route"]],
  maxGroups: [5],
  retention: ["2m"],
  clock: ["event"],
  nan: ["ignore"],
  replicas: [0],
  resolution: ["1us"],
  maxPendingBytes: [4096],
  maxResidentBytes: [4096],
  entropy: [() => 7],
};

const MADE: Made[] = [
  {
    kind: "Series",
    matrix: "series",
    values: {
      retention: ["2h", 90_000],
      values: ["float64"],
      clock: ["event"],
      nan: ["ignore", "propagate"],
      resolution: ["10us"],
      onStoreError: ["local"],
      replicas: [1],
      maxPendingBytes: [1e6],
      maxResidentBytes: [1e6],
      entropy: [() => 0.5],
    },
    make: (store, name, options) => new Series(store, name, options),
  },
  {
    kind: "Series",
    matrix: "shardedSeries",
    values: {
      shards: [1, 5],
      retention: ["2h"],
      values: ["float64"],
      clock: ["event"],
      nan: ["ignore"],
      resolution: ["10us"],
      onStoreError: ["local"],
      replicas: [1],
      maxPendingBytes: [1e6],
      maxResidentBytes: [1e6],
      entropy: [() => 7],
    },
    make: (store, name, options) => new ShardedSeries(store, name, { shards: 3, ...options }),
  },
  {
    kind: "Limiter",
    matrix: "limiter",
    values: {
      name: [],
      policies,
      onStoreError: ["allow", "deny", localDecisions()],
      denyCache: [100],
      cacheFor: ["1m"],
      lease: [{ permits: 2, for: "1s" }],
    },
    make: (store, name, { policies = [fixedWindow({ limit: 3, span: "1m" })], ...options }) =>
      new Limiter(store, policies as never, { name, ...options }),
  },
  ...(
    [
      ["Lock", "lock", (store: Store, name: string, options: object) => new Lock(store, name, options)],
      ["ReadWriteLock", "readWriteLock", (store, name, options) => new ReadWriteLock(store, name, options)],
    ] as const satisfies [string, StructureName, Made["make"]][]
  ).map(([kind, matrix, make]) => ({
    ...{ kind, matrix, make },
    values: { watchdogLease: ["5s"], replicas: [0] },
  })),
  ...(
    [
      ["Semaphore", "semaphore", (store, name, options) => new Semaphore(store, name, { limit: 2, ...options })],
      [
        "MultiSemaphore",
        "multiSemaphore",
        (store, name, options) => new MultiSemaphore(store, name, { limit: 2, ...options }),
      ],
    ] as [string, StructureName, Made["make"]][]
  ).map(([kind, matrix, make]) => ({
    ...{ kind, matrix, make },
    values: { limit: [5], watchdogLease: ["5s"], replicas: [0] },
  })),
  {
    kind: "Breaker",
    matrix: "breaker",
    values: {
      name: [],
      span: ["5s"],
      failures: [2],
      failureRatio: [0.5],
      slowRatio: [{ slowRatio: 0.5, slowCall: "1s" }],
      slowCall: [{ slowRatio: 0.5, slowCall: "1s" }],
      minimumCalls: [3],
      cooldown: ["1m", { first: "1s", factor: 3, longest: "1m", jitter: 0.2 }],
      quorum: [0.5],
      probes: [2],
      lease: ["20s"],
      flush: ["1s"],
      timeout: ["1s"],
      isFailure: [() => true],
      isIgnored: [() => false],
      monotonic: [() => performance.now()],
    },
    make: (store, name, options) => new Breaker(store, { span: "10s", failureRatio: 0.5, ...options, name } as never),
  },
  {
    kind: "Counters",
    matrix: "counters",
    values: {
      dimensions: [["a", "b"]],
      addedDimensions: [["more"], ["more", "most"]],
      buckets: [["hour"], ["minute", "day"]],
      timeZone: ["Europe/Berlin"],
      shards: [1, 8],
      replicas: [1],
      mirror: [{ prefix: "m:" }],
      onLost: [() => {}],
    },
    make: (store, name, options) => new Counters(store, name, { dimensions: ["page"], ...options } as never),
  },
  {
    kind: "SeriesGroup",
    matrix: "seriesGroup",
    values: GROUP_VALUES,
    make: (store, name, options) => new SeriesGroup(store, name, { labels: ["route", "method"], ...options }),
  },
  {
    kind: "SeriesGroup",
    matrix: "shardedSeriesGroup",
    values: { ...GROUP_VALUES, shards: [1, 5] },
    make: (store, name, options) =>
      new ShardedSeriesGroup(store, name, { labels: ["route", "method"], shards: 3, ...options }),
  },
  {
    kind: "LockedWindow",
    matrix: "lockedWindow",
    values: {
      span: ["2m"],
      closed: ["right"],
      lock: [new Lock(memoryStore(), "another")],
      wait: ["1s"],
      lease: ["5s"],
      maxBytes: [1e6],
      statistics: [{ first: () => 1 }],
    },
    make: (store, name, options) => new LockedWindow(store, name, { span: "1m", ...options }),
  },
  {
    kind: "DrainService",
    matrix: "drain",
    values: {
      ...{ counters: [], sink: [] },
      lock: [new Lock(memoryStore(), "of drains")],
      every: ["2s"],
      cycleTimeout: ["1m"],
      sqlTimeout: ["1m"],
      concurrency: [2],
      replicas: [1],
    },
    // Its counters announce themselves under the same name.
    make: (store, name, options) => {
      const counters = new Counters(store, name, { dimensions: ["page"] });
      return new DrainService({ counters, sink: new TableSink(), ...options });
    },
  },
  {
    kind: "DelayQueue",
    matrix: "queue",
    values: {
      shards: [3],
      dedupeFor: ["1m"],
      attempts: [1],
      backoff: [{ first: "1s", longest: "1m", factor: 2 }, "2s"],
      replicas: [1],
    },
    make: (store, name, options) => new DelayQueue(store, name, options),
  },
  {
    kind: "FleetMetrics",
    matrix: "fleet",
    values: {
      percentiles: [true],
      mode: ["sentinel"],
      sampleCount: [4],
      interval: ["10s"],
      maxNames: [3],
      flush: ["1s"],
    },
    make: (store, name, options) => new FleetMetrics(store, name, options),
  },
];

let server: RedisServer;
const clock = { nowMs: 0 };
let store: ReturnType<typeof redisStore>;
const made = new Map<string, { kind: string; structure: unknown }>();

const CLOSED = [Series, ShardedSeries, SeriesGroup, ShardedSeriesGroup, Counters, FleetMetrics] as const;

function isClosed(structure: unknown): structure is { close(): Promise<void> } {
  return CLOSED.some((each) => structure instanceof each);
}

/** Whether it is one of these, and not the counters of a drain. */
const isMade = ({ name, kind }: { name: string; kind: string }) => made.get(name)?.kind === kind;

/** One structure for each value of each option, and one without options. */
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  store = redisStore(server.url, { monotonic: () => clock.nowMs });
  for (const { kind, values, make } of MADE) {
    made.set(`${kind} plain`, { kind, structure: make(store, `${kind} plain`, {}) });
    for (const [option, each] of Object.entries(values))
      for (const [i, value] of each.entries()) {
        const name = `${kind} ${option} ${i}`;
        const options = option.startsWith("slow") ? (value as Record<string, unknown>) : { [option]: value };
        made.set(name, { kind, structure: make(store, name, options) });
      }
  }
  clock.nowMs += 200;
  const reader = new Lock(store, "reader");
  await until("all are announced", async () => {
    await reader.inspect();
    return (await new Scope(store, dashboardSettings({})).structures()).filter(isMade).length >= made.size;
  });
});
afterAll(async () => {
  for (const { structure } of made.values()) if (isClosed(structure)) await structure.close();
  await store.close();
  await server.stop();
});

test.each(MADE)("$kind: each option has a value here, also one that is added later", ({ matrix, values }) => {
  const known = knownOptionsOf(structures[matrix]).filter((option) => option !== "limit" || "limit" in values);
  const others = Object.keys(values).filter((option) => option !== "policies" && !known.includes(option));
  expect(known.filter((option) => !(option in values))).toEqual([]);
  expect(others).toEqual([]);
});

test("each kind that a structure can announce is here, and has a descriptor", () => {
  expect(new Set(MADE.map(({ kind }) => kind))).toEqual(new Set(STRUCTURE_KINDS));
  expect(new Set(Object.keys(KINDS))).toEqual(new Set(STRUCTURE_KINDS));
});

const liveOn = (each: Store) => Object.values(liveOf(each)).flatMap((one) => (one instanceof Map ? inUse(one) : []));

describe("whatever its options", () => {
  test("a structure that is opened by its announced settings has the settings that all processes share", async () => {
    const listed = (await new Scope(store, dashboardSettings({})).structures()).filter(isMade);
    const original = new Map(liveOn(store).map((each) => [`${each.kind} ${each.name}`, each.shared]));
    const failed: string[] = [];
    const opened = new Set<string>();
    for (const { kind, name, settings } of listed) {
      const { open } = KINDS[kind];
      // Only the processes have the function of these policies.
      if (!open || settings.policies === "by id") continue;
      const reader = memoryStore();
      const structure = open(reader, { name, settings });
      opened.add(kind);
      const [again] = liveOn(reader);
      const [known, found] = [original.get(`${kind} ${name}`), again?.shared].map((each) => JSON.stringify(each));
      if (again?.kind !== kind || again.name !== name || known !== found) failed.push(`${name}: ${known} but ${found}`);
      // Added dimensions and time zones are no shared settings.
      if (structure instanceof Counters)
        expect([name, structure.shape]).toEqual([name, (made.get(name)!.structure as Counters).shape]);
      if (isClosed(structure)) await structure.close();
    }
    expect(failed).toEqual([]);
    const byKeys = ["LockedWindow", "ReadWriteLock", "Semaphore", "MultiSemaphore", "DrainService"];
    expect([...opened, ...byKeys].sort()).toEqual([...STRUCTURE_KINDS].sort());
  });

  test("a structure is in the list, its row has numbers, and each part of its page answers", async () => {
    const answers = new Answers(new Scope(store, dashboardSettings({})));
    const listed = (await answers.scope.structures()).filter(isMade);
    expect(listed.map(({ name }) => name).sort()).toEqual([...made.keys()].sort());
    const spanMs = 60_000;
    const ids = listed.map(({ id }) => id);
    const rows = await answers.rows(ids, spanMs);
    expect(listed.flatMap(({ id, name }) => (rows[id]?.error ? [`${name}: ${rows[id].error}`] : []))).toEqual([]);
    const failed: string[] = [];
    for (const each of listed)
      for (const [part, read] of Object.entries(kindOf(each.kind).parts)) {
        const query = new URLSearchParams({ ids: "a", from: "0", to: `${Date.now()}`, span: "60000" });
        await read(answers.scope, each, query).catch((error) => failed.push(`${each.name}, ${part}: ${error.message}`));
      }
    expect(failed).toEqual([]);
  });

  test("the command shows it", async () => {
    const failed: string[] = [];
    const { stdout } = await command(["ls", "--redis", server.url, "--json"]);
    for (const [name, { kind }] of made) {
      if (!stdout.includes(JSON.stringify(name))) failed.push(`ls: ${name}`);
      const { status, stderr } = await command(["stats", name, "--kind", kind, "--redis", server.url]);
      if (status !== 0 || stderr !== "") failed.push(`stats ${name}: ${status} ${stderr}`);
    }
    const top = await command(["top", "--once", "--redis", server.url]);
    if (top.status !== 0)
      failed.push(`top: ${top.status} ${top.stdout.split("\n").filter((line) => /error|!/.test(line))}`);
    expect(failed).toEqual([]);
  });

  test("the exporters report it", async () => {
    const text = await prometheusText(registerAll(store, { fleet: "every", maxNames: 1000 }));
    expect(text).toContain("oriel_exporter_failed_sources 0\n");
    const kinds = ["Series", "SeriesGroup", "Limiter", "Breaker", "DelayQueue"];
    const missing = [...made].filter(([name, { kind }]) => kinds.includes(kind) && !text.includes(`name="${name}"`));
    expect(missing.map(([name]) => name)).toEqual([]);
  });
});
