import { expect, test } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import type { Keyspace, Operation, Store } from "../../src/store/contract.ts";
import { Random } from "../simulator/world/random.ts";
import { Findings } from "./findings.ts";
import { junk, spoiled } from "./hostile.ts";
import { SUBJECTS } from "./subjects.ts";

const CASES = Number(process.env.ORIEL_FUZZ_CASES ?? 1000);
/** All seeds wait at the same time. */
const AT_A_TIME = 500;
const SEED = Number(process.env.ORIEL_FUZZ_SEED ?? 31);

/** A memory store that says which keys its steps declare, and lets a test put any value under one. */
function watchedStore() {
  const own = memoryStore();
  const keys = new Set<string>();
  const run: Store["run"] = (operation, key, input, options) => {
    for (const each of operation.keysOf?.(key, input) ?? [key]) keys.add(each);
    return own.run(operation, key, input, options);
  };
  const put = (key: string, value: unknown) => {
    const local = (keyspace: Keyspace) => keyspace.set(key, value, 64, Number.POSITIVE_INFINITY);
    return own.run(
      { name: "test", keyCount: 1, repeatable: false, local } as unknown as Operation<void, void>,
      key,
      undefined,
    );
  };
  return { store: { ...own, run } as Store, own, keys, put };
}

/** Values that another structure, another version or a mistake could have stored. */
function foreign(random: Random, value: unknown, others: readonly unknown[]): unknown {
  if (typeof value === "string" && random.chance(0.7)) return spoiled(random, Buffer.from(value)).toString("latin1");
  if (typeof value === "number" && random.chance(0.7))
    return random.pick([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53]);
  return random.pick([0, "", "text", null, true, 7n, [], {}, { kind: 2 }, junk(random, 40), random.pick(others)]);
}

test(
  `no content of a memory store stops a process: ${CASES} cases, ORIEL_FUZZ_SEED=${SEED}`,
  async () => {
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown) => void uncaught.push(error);
    process.on("unhandledRejection", onUncaught);
    const random = new Random(SEED);
    const findings = new Findings();
    const { store, own, keys, put } = watchedStore();
    // A value of a memory store is an object, and cases change those that they get. So nothing that is checked gives any away.
    const donors = SUBJECTS.map((subject, i) => subject.open(store, `donor${i}x`, "1h"));
    await Promise.all(donors.map((each) => each.seed()));
    const others = [...keys].map((key) => own.entryOf(key)?.value).filter((value) => value !== undefined);
    const healthy = SUBJECTS.map((subject, i) => subject.open(store, `healthy${i}x`, "1h"));
    await Promise.all(healthy.map((each) => each.seed()));

    for (let first = 0; first < CASES; first += AT_A_TIME) {
      const forks = Array.from({ length: Math.min(AT_A_TIME, CASES - first) }, () => random.fork());
      const cases = forks.map(async (fork, i) => {
        const subject = SUBJECTS[(first + i) % SUBJECTS.length]!;
        const name = `case${first + i}x`;
        const driven = subject.open(store, name, "1m", true);
        await driven.seed();
        const there = [...keys].filter((key) => key.includes(name) && own.entryOf(key));
        if (there.length === 0) return driven.close();
        const key = fork.pick(there);
        const value = foreign(fork, own.entryOf(key)!.value, others);
        await put(key, value);
        const what = `seed ${SEED}, ${key}: ${String(JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}n` : each))).slice(0, 80)}`;
        const each = { subject, name, damaged: [key], what };
        for (const [label, ask] of Object.entries(driven.asks)) await findings.watch(each, label, ask);
        for (const error of driven.reported) findings.judge(each, "listener", error);
        await findings.watch(each, "close", () => driven.close());
      });
      await Promise.all(cases);
      for (const [i, each] of healthy.entries())
        await each
          .check()
          .catch((error) => findings.add(`${SUBJECTS[i]!.name}: an untouched one fails`, error.message));
    }
    await Promise.all([...donors, ...healthy].map((each) => each.close()));
    await store.close();
    process.off("unhandledRejection", onUncaught);
    expect(uncaught).toEqual([]);
    expect(findings.list).toEqual([]);
  },
  120_000 + CASES * 50,
);
