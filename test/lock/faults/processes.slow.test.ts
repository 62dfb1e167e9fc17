import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { builtProgram } from "../../harness/built-program.ts";
import { until } from "../../harness/until.ts";
import { Random } from "../../simulator/world/random.ts";
import { LockStage } from "../stage.ts";

const { ORIEL_PROCESSES = "4", ORIEL_HOLDS = "200", ORIEL_SEED } = process.env;
const seed = Number(ORIEL_SEED ?? Date.now() % 1_000_000);

const stage = new LockStage();
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

async function start(id: string, ...mode: string[]): Promise<ChildProcess> {
  const child = fork(builtProgram(new URL("./child.ts", import.meta.url)), [stage.server.url, id, ...mode]);
  children.add(child);
  await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", reject);
  });
  return child;
}

const kill = async (child: ChildProcess) => {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  children.delete(child);
};

const logLength = () => stage.raw.llen("log");
const untilGrown = async (by: number) => {
  const target = (await logLength()) + by;
  await until("the log grows", async () => (await logLength()) >= target);
};

test(`${ORIEL_PROCESSES} processes killed and paused at random (seed ${seed}): fences rise in the order of holds, proven holds exclude`, {
  timeout: 300_000 + 100 * Number(ORIEL_HOLDS),
}, async () => {
  const random = new Random(seed);
  const ids = Array.from({ length: Number(ORIEL_PROCESSES) }, (_, i) => `p${i}`);
  let running = await Promise.all(ids.map((id) => start(id)));
  await untilGrown(200);
  // A hold writes two lines. On a slow machine few of them are proven.
  const isEnough = async () => (await logLength()) >= 2 * Number(ORIEL_HOLDS) && (await stage.raw.llen("proven")) > 100;
  for (let round = 0; round < 6 || !(await isEnough()); round++) {
    await pause(random.int(20, 80));
    const victim = random.pick(running);
    if (round % 2 === 0) {
      // For longer than the lease: whether it held the lock then or not, the others go on.
      victim.kill("SIGSTOP");
      await untilGrown(40);
      await pause(350);
      victim.kill("SIGCONT");
    } else {
      await kill(victim);
      running = running.filter((each) => each !== victim);
      await untilGrown(40);
      running.push(await start(`e${round}`));
    }
    await untilGrown(40);
  }
  await Promise.all(running.map(kill));

  const log = (await stage.raw.lrange("log", 0, -1)).map((line) => line.split(" "));
  const fences = log.map(([fence]) => Number(fence));
  expect(fences).toEqual([...fences].sort((a, b) => a - b));
  const proven = (await stage.raw.lrange("proven", 0, -1)).map((line) => line.split(" "));
  expect(proven.length).toBeGreaterThan(100);
  expect(new Set(proven.map(([fence]) => fence)).size).toBe(proven.length);
  const places = new Map<string, number[]>();
  for (const [i, [fence]] of log.entries()) places.set(fence!, [...(places.get(fence!) ?? []), i]);
  for (const [fence, begun, ended] of proven) {
    expect([fence, begun, ended]).toEqual([fence, "1", "1"]);
    const [begin, end] = places.get(fence!)!;
    expect(end).toBe(begin! + 1);
  }
});

test("a killed holder keeps the lock for its lease only", async () => {
  const child = await start("z");
  await untilGrown(4);
  child.kill("SIGSTOP");
  await kill(child);
  const held = await stage.lock().tryLock({ wait: "20s" });
  expect(held!.fence).toBeGreaterThan(Number(await stage.raw.get("last")) - 1);
  expect(await held!.release()).toBe(true);
});

test("a renewed hold whose process stands still past the lease: it knows at once, its write is refused, its release is normal", async () => {
  const child = await start("h", "hold");
  await until("it holds", async () => (await logLength()) === 1);
  child.kill("SIGSTOP");
  const next = await stage.lock().tryLock({ wait: "20s", lease: "60s" });
  const first = Number(await stage.raw.get("last"));
  expect(next!.fence).toBeGreaterThan(first);
  await stage.raw.set("last", next!.fence);
  const reported = new Promise((resolve) => child.once("message", resolve));
  child.send("look");
  child.kill("SIGCONT");
  expect(await reported).toEqual({ leftMs: 0, isAborted: true, written: 0, released: false });
  expect(await next!.release()).toBe(true);
  await kill(child);
});
