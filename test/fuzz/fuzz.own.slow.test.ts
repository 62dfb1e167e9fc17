import { readdirSync, readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isStep, luaFolder } from "../../scripts/lua/compose-script.mjs";
import * as oriel from "../../src/entries/index.ts";
import { redisStore } from "../../src/entries/index.ts";
import * as semaphores from "../../src/entries/structures/semaphore.ts";
import type { Store } from "../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { Random } from "../simulator/world/random.ts";
import { type Case, Findings } from "./findings.ts";
import { damaged, restored, type Stencil, stencilOf } from "./stencil.ts";
import { SUBJECTS, WITHOUT_KEYS } from "./subjects.ts";

const CASES = Number(process.env.ORIEL_FUZZ_CASES ?? 8_000);
const SEED = Number(process.env.ORIEL_FUZZ_SEED ?? 31);
/** The first case to run, of the seed's cases. */
const FROM = Number(process.env.ORIEL_FUZZ_FROM ?? 0);
const ONLY = process.env.ORIEL_FUZZ_ONLY;
/** All steps. */
const STEPS = readdirSync(luaFolder, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".lua") && isStep(readFileSync(`${luaFolder}/${path}`, "utf8")))
  .map((path) => path.slice(0, -".lua".length))
  .sort();
const STENCIL_LIFE_MS = 30_000;
const AT_A_TIME = Number(process.env.ORIEL_FUZZ_TOGETHER ?? 200);

let server: RedisServer;
let client: Redis;
let store: Store;
let stencils: Stencil[];
/** The same structures under other names. */
let twins: Stencil[];
const seen = new Set<string>();
const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => void uncaught.push(error);

beforeAll(async () => {
  process.on("unhandledRejection", onUncaught);
  process.on("uncaughtException", onUncaught);
  server = await startRedis();
  client = new Redis(server.url);
  const own = redisStore(server.url, { deadline: 5000 });
  store = {
    ...own,
    run: (operation, ...call) => {
      seen.add(operation.name);
      return own.run(operation, ...call);
    },
  };
  stencils = await stencilsOf("");
  twins = await stencilsOf("twin");
});
afterAll(async () => {
  await store?.close();
  client?.disconnect();
  await server?.stop();
  process.off("unhandledRejection", onUncaught);
  process.off("uncaughtException", onUncaught);
});

test("the table has every structure and all of its keys", () => {
  const classes = Object.entries({ ...oriel, ...semaphores }).filter(
    ([, each]) => typeof each === "function" && /^class /.test(Function.prototype.toString.call(each)),
  );
  const driven = SUBJECTS.flatMap(({ drives }) => drives);
  expect(classes.map(([name]) => name).sort()).toEqual([...new Set(driven), ...WITHOUT_KEYS].sort());
  for (const { subject, name, keys } of stencils) {
    const patterns = subject.keys.map((pattern) => new RegExp(pattern.source.replaceAll("NAME", name)));
    const own = subject.keysOf?.(store, name) ?? [];
    expect([
      subject.name,
      keys.map(({ key }) => key).filter((key) => !own.includes(key) && !patterns.some((each) => each.test(key))),
    ]).toEqual([subject.name, []]);
    expect([subject.name, patterns.filter((each) => !keys.some(({ key }) => each.test(key)))]).toEqual([
      subject.name,
      [],
    ]);
  }
});

test(
  `no content of Redis stops a process: ${CASES} cases, ORIEL_FUZZ_SEED=${SEED}`,
  async () => {
    const random = new Random(SEED);
    const findings = new Findings();
    const isChosen = ({ subject }: Stencil) => !ONLY || ONLY.split(",").includes(subject.name);
    let chosen = stencils.filter(isChosen);
    let madeMs = performance.now();
    const healthy = chosen.map(({ subject }, i) => subject.open(store, `healthy${i}x`, "1h"));
    await Promise.all(healthy.map((each) => each.seed()));
    let everyKey = stencils.flatMap(({ keys }) => keys);
    for (let first = 0; first < CASES; first += AT_A_TIME) {
      const forks = Array.from({ length: AT_A_TIME }, () => random.fork());
      if (first + AT_A_TIME <= FROM) continue;
      // Their events must lie in their windows.
      if (performance.now() - madeMs > STENCIL_LIFE_MS) {
        stencils = await stencilsOf(`${first}x`);
        madeMs = performance.now();
        chosen = stencils.filter(isChosen);
        everyKey = stencils.flatMap(({ keys }) => keys);
      }
      const batch = Array.from({ length: Math.min(AT_A_TIME, CASES - first) }, (_, i) =>
        oneCase(forks[i]!, chosen[(first + i) % chosen.length]!, `case${first + i}x`, everyKey, findings),
      );
      const checks = healthy.map((each, i) =>
        each
          .check()
          .catch((error) =>
            findings.add(`${chosen[i]!.subject.name}: an untouched one fails: ${error?.message}`, `cases ${first}`),
          ),
      );
      await Promise.all([...batch, ...checks]);
      if (process.env.ORIEL_FUZZ_TRACE)
        console.error(
          "cases",
          first,
          findings.list.map((each) => each.slice(0, 200)),
        );
      for (const error of uncaught.splice(0)) {
        const { name, message, stack } = (error ?? {}) as Error;
        const at = stack
          ?.split("\n")
          .filter((line) => line.includes("/src/"))
          .slice(0, 2)
          .join(" ");
        findings.add(`uncaught ${name}: ${message?.replace(/\d+/g, "N")}`, `cases ${first}: ${at}`);
      }
      const left = await client.keys("*case*").catch((error: Error) => error);
      if (left instanceof Error) {
        findings.add(`the server fails: ${left.message}`, `cases ${first}`);
        break;
      }
      if (left.length > 0) await client.unlink(left);
    }
    await Promise.all(healthy.map((each) => each.close()));
    if (!ONLY) expect(STEPS.filter((step) => !seen.has(step))).toEqual([]);
    expect(findings.list).toEqual([]);
  },
  600_000 + CASES * 50,
);

function stencilsOf(again: string): Promise<Stencil[]> {
  return Promise.all(SUBJECTS.map((subject, i) => stencilOf(subject, store, client, `stencil${again}${i}x`)));
}

async function oneCase(random: Random, stencil: Stencil, name: string, everyKey: Stencil["keys"], findings: Findings) {
  const { subject } = stencil;
  const { damage, commands } = damaged(random, stencil, store, name, everyKey, twins[SUBJECTS.indexOf(subject)]!);
  const isWarm = random.chance(0.3);
  const what = `seed ${SEED}, ${name} ${damage.key}: ${damage.how}${isWarm ? ", warm" : ""}`;
  const each: Case = { subject, name, damaged: [damage.key, damage.otherKey ?? damage.key], what };
  await pipelined(restored(stencil, store, name));
  const driven = subject.open(store, name, "1m", true);
  const labels = Object.keys(driven.asks);
  if (isWarm) await findings.watch(each, `${labels[0]!} when warm`, driven.asks[labels[0]!]!);
  await pipelined(commands);
  for (const label of labels) await findings.watch(each, label, driven.asks[label]!);
  for (const error of driven.reported) findings.judge(each, "listener", error);
  if (driven.checkSpared)
    await driven
      .checkSpared(each.damaged, damage.row)
      .catch((error) => findings.add(`${subject.name}: a neighbour was harmed`, `${what}: ${error.message}`));
  await findings.watch(each, "close", () => driven.close());
}

async function pipelined(commands: (string | Buffer | number)[][]): Promise<void> {
  await Promise.all(commands.map(([name, ...rest]) => client.call(String(name), ...rest).catch(() => {})));
}
