import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as oriel from "../../src/entries/index.ts";
import { OrielError } from "../../src/entries/index.ts";
import * as semaphores from "../../src/entries/structures/semaphore.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { ASKINGS, type Asking, madeObjects, SILENT } from "./rejections.ts";

/** Of calls that nobody answers. */
const DEADLINE_MS = 2000;
/** Of others. One that is sent again before its refusal comes may have been applied. */
const ANSWERED_MS = 60_000;
const TICK_MS = 50;
const SECRET = "planted-secret";

interface Scene {
  /** Makes the store fail from then on. */
  begin(server: RedisServer, proxy: FaultProxy): Promise<unknown> | unknown;
  reported: RegExp;
  /** The fields of the error of a call that writes. */
  applied: "no" | "unknown";
  transient: boolean;
  deadlineMs: number;
}

async function command(server: RedisServer, ...commands: string[][]): Promise<void> {
  const connection = new RespConnection(server.url);
  await connection.send(commands);
  connection.close();
}

const SCENES: Record<string, Scene> = {
  "answers that are lost": {
    // biome-ignore lint/suspicious/noThenProperty: the harness names it so; nobody awaits these options.
    begin: (_, proxy) => proxy.dropReplies(1e9, { then: "silence" }),
    // Where a probe has found it first, the message is about the server.
    reported: /no answer|the reply was lost|does not answer/,
    applied: "unknown",
    transient: true,
    deadlineMs: DEADLINE_MS,
  },
  "nobody there": {
    begin: (_, proxy) => proxy.close(),
    reported: /nothing accepts connections at this address .*ECONNREFUSED/,
    applied: "no",
    transient: true,
    deadlineMs: DEADLINE_MS,
  },
  "a user who may not run scripts": {
    begin: (server) => command(server, ["ACL", "SETUSER", "ann", "-@scripting"]),
    reported: /ACL rules do not allow this \(NOPERM/,
    applied: "no",
    transient: false,
    deadlineMs: ANSWERED_MS,
  },
  "a password that was changed": {
    begin: async (server, proxy) => {
      await command(server, ["ACL", "SETUSER", "ann", "resetpass", ">another"]);
      proxy.cut();
    },
    reported: /refused the user name or password \(WRONGPASS/,
    applied: "no",
    transient: false,
    deadlineMs: ANSWERED_MS,
  },
};

function methodsOf(object: object): string[] {
  const names: string[] = [];
  for (let each = object; each && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each)))
      if (typeof value === "function" && name !== "constructor") names.push(name);
  return names;
}

test("every method of every structure with a store has a row", async () => {
  const known = new Set([...ASKINGS.map(({ called }) => called), ...Object.keys(SILENT)]);
  const classes = new Set([...known].map((called) => called.split(".")[0]!));
  const over = [
    "Series",
    "SeriesGroup",
    "ShardedSeries",
    "LockedWindow",
    "Limiter",
    "Lock",
    "Semaphore",
    "Breaker",
    "DelayQueue",
    "Counters",
    "FleetMetrics",
  ];
  expect([...classes]).toEqual(expect.arrayContaining(over));
  const store = oriel.memoryStore();
  const made = await madeObjects(store);
  const missing = [...classes].flatMap((name) => {
    const exported = ({ ...oriel, ...semaphores } as Record<string, unknown>)[name] as
      | { prototype: object }
      | undefined;
    const statics = exported ? Object.getOwnPropertyNames(exported) : [];
    const own = methodsOf(exported?.prototype ?? made[name]!);
    const ofClass = statics.filter((each) => !["length", "name", "prototype"].includes(each));
    return [...own, ...ofClass.map((each) => `static ${each}`)].map((method) => `${name}.${method}`);
  });
  expect(missing.filter((each) => !known.has(each))).toEqual([]);
  await store.close();
});

describe.each(Object.entries(SCENES))("%s", (_, scene) => {
  let server: RedisServer;
  let proxy: FaultProxy;
  const outcomes = new Map<Asking, { error: unknown; ticks: number }>();

  beforeAll(async () => {
    server = await startRedis({ tcp: true });
    await command(server, ["ACL", "SETUSER", "ann", "on", `>${SECRET}`, "~*", "&*", "+@all"]);
    proxy = await startProxy(server.port);
    const url = `redis://ann:${SECRET}@127.0.0.1:${proxy.port}`;
    const store = oriel.redisStore(url, { deadline: scene.deadlineMs, onWarning: null });
    // A store's error in the background has its own tests.
    store.on("error", () => {});
    const objects = await Promise.all(ASKINGS.map((each) => each.open(store, `the ${each.called}`)));
    await scene.begin(server, proxy);
    let ticks = 0;
    const ticking = setInterval(() => ticks++, TICK_MS);
    await Promise.all(
      ASKINGS.map(async (each, i) => {
        async function theCaller() {
          await each.call(objects[i] as never);
        }
        const error = await theCaller().then(
          () => undefined,
          (reason) => reason,
        );
        outcomes.set(each, { error, ticks });
      }),
    );
    clearInterval(ticking);
    await store.close();
  });
  afterAll(() => Promise.all([server.stop(), proxy.close()]));

  test.each(ASKINGS)("$called", (asking) => {
    const { called, isQuestion } = asking;
    const { error, ticks } = outcomes.get(asking)!;
    if (!(error instanceof OrielError)) return expect.fail(`it gave ${inspect(error)}`);
    const [className = ""] = called.split(".");
    const method = called.slice(className.length + 1);
    const operation = method.replace(/^static /, "").replace(/ .*/, "");
    const structure = asking.structure ?? className;
    const place = `${structure} "the ${called}" ${className === "DeadLetters" ? `dead.${operation}` : operation}: `;
    expect(error.message.slice(0, place.length)).toBe(place);
    expect(error.message.slice(place.length)).toMatch(scene.reported);
    expect(error.message.endsWith(` (redis at 127.0.0.1:${proxy.port})`), error.message).toBe(true);
    expect(error.message).not.toMatch(/(window|limiter|lock|counter|queue|fleet|breaker)\/|key "/);
    expect(error).toMatchObject({ transient: scene.transient, applied: isQuestion ? "no" : scene.applied });
    expect(error.stack).toContain("theCaller");
    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain(SECRET);
    // A release and a change that peeks ask twice. A process that stands still counts no ticks.
    expect(ticks).toBeLessThanOrEqual((2 * scene.deadlineMs + 1000) / TICK_MS);
  });
});
