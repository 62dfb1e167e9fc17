import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { CountersDoctor } from "../../../src/counters/drain/doctor.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { memoryStore } from "../../../src/entries/index.ts";
import type { Sink } from "../../../src/entries/sql.ts";
import { Random } from "../../simulator/world/random.ts";
import { STAGES, type Stage } from "../stages.ts";

const SHARDS = 2;
const VALUES = Array.from({ length: 8 }, (_, i) => `v${i}`);
const AT = Date.UTC(2026, 1, 28, 23, 50);
const MOST = "9223372036854775807";
/** What nothing can be added to. */
const FULL = [MOST, "1e300"];
const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));

/** Columns and the SQL values written there, except those that the database itself refuses. */
type Hostile = readonly [column: "start_at" | "count" | "a", sql: string, reported: "CORRUPT" | "an answer"];
const ANYWHERE: readonly Hostile[] = [
  ["count", "-1", "CORRUPT"],
  ["count", `-${MOST}`, "CORRUPT"],
  ["count", "0", "an answer"],
  ["count", MOST, "an answer"],
  ["a", "''", "an answer"],
];
const HOSTILE: Record<string, readonly Hostile[]> = {
  PostgreSQL: [
    ["start_at", "'infinity'", "CORRUPT"],
    ["start_at", "'-infinity'", "CORRUPT"],
    ["start_at", "'2026-02-28 23:50:00Z BC'", "CORRUPT"],
    ["start_at", "'0044-03-15 12:00:00Z BC'", "CORRUPT"],
    ["start_at", "'0044-03-15 12:00:00Z'", "CORRUPT"],
    ["start_at", "'12026-02-28 23:50:00Z'", "CORRUPT"],
    ["start_at", "'2026-02-28 23:50:01Z'", "CORRUPT"],
    ["a", "E'a\\nb\\u202e'", "an answer"],
  ],
  MariaDB: [
    ["start_at", "'0000-00-00 00:00:00'", "CORRUPT"],
    ["start_at", "'2026-00-00 00:00:00'", "CORRUPT"],
    ["start_at", "'2026-02-31 00:00:00'", "CORRUPT"],
    ["start_at", "'0044-03-15 12:00:00'", "CORRUPT"],
    ["start_at", "'2026-02-28 23:50:01'", "CORRUPT"],
    ["a", "x'610062'", "an answer"],
    ["a", "x'eda080'", "an answer"],
  ],
  SQLite: [
    ["start_at", "'infinity'", "CORRUPT"],
    ["start_at", "''", "CORRUPT"],
    ["start_at", "x'eda080'", "CORRUPT"],
    ["start_at", "CAST(start_at AS BLOB)", "an answer"],
    ["start_at", "'2026-02-31T00:00:00Z'", "CORRUPT"],
    ["start_at", "'2026-02-28T23:50:00+05:30'", "CORRUPT"],
    ["start_at", "'2026-02-28T23:50:01Z'", "CORRUPT"],
    ["start_at", "'-000044-03-15T12:00:00Z'", "CORRUPT"],
    ["count", "1e300", "CORRUPT"],
    ["count", "'x'", "CORRUPT"],
    ["a", "x'eda080'", "CORRUPT"],
    ["a", "x''", "CORRUPT"],
    ["a", "CAST(x'eda080' AS TEXT)", "CORRUPT"],
    ["a", "'a' || char(0) || 'b'", "an answer"],
  ],
};
/** MariaDB takes most of it only where it is not strict; SQLite once its checks are off. */
const LENIENT: Record<string, (update: string) => string> = {
  MariaDB: (update) => `SET STATEMENT sql_mode = 'ALLOW_INVALID_DATES' FOR ${update}`,
  SQLite: (update) => `PRAGMA ignore_check_constraints = 1; ${update}; PRAGMA ignore_check_constraints = 0`,
};
const LEDGER: readonly (readonly [column: string, sql: string, isTold: boolean])[] = [
  ["generation", "-1", true],
  ["generation", "9007199254740993", true],
  ["fence", "-7", true],
  ["events", "-9223372036854775808", true],
  ["nonce", "''", false],
  ["nonce", "'b-bffffffffffffffffffff'", false],
];

describe.each(Object.keys(HOSTILE))(`in %s (seed ${seed})`, (database) => {
  const random = new Random(seed);
  let stage: Stage;
  let flow: Counters;
  let sink: Sink;

  beforeAll(async () => {
    stage = await STAGES[database]!();
    flow = new Counters(memoryStore(), "flow", { dimensions: ["a"], shards: SHARDS });
    sink = stage.sink({ table: "flow", ledgerTable: "ledger" });
    await sink.createTables(flow.shape);
  });
  afterAll(() => stage?.stop());
  beforeEach(async () => {
    for (const table of ["flow", "ledger"]) await stage.run!(`DELETE FROM ${table}`);
    flow = new Counters(memoryStore(), "flow", { dimensions: ["a"], shards: SHARDS });
    await addAll();
    await drained();
  });

  const addAll = () => Promise.all(VALUES.map((a) => flow.add({ a }, { at: AT })));
  async function drained(): Promise<OrielError[]> {
    const drain = new DrainService({ counters: flow, sink });
    const errors: OrielError[] = [];
    drain.on("error", ({ error }) => void errors.push(error as OrielError));
    await drain.drainOnce();
    await drain.stop();
    return errors;
  }
  /** False where the database refuses it. */
  const written = (update: string) =>
    stage.run!((LENIENT[database] ?? String)(update)).then(
      () => true,
      () => false,
    );
  /** Its answer, or its OrielError. Any other error is thrown. */
  async function judged<T>(call: Promise<T>): Promise<T | OrielError> {
    return call.catch((error) => {
      expect(error).toBeInstanceOf(OrielError);
      return error as OrielError;
    });
  }
  test.each([...ANYWHERE, ...HOSTILE[database]!])(
    "a row whose %s is %s is reported as %s, and all others are drained",
    async (column, sql, reported) => {
      const value = random.pick(VALUES);
      if (!(await written(`UPDATE flow SET ${column} = ${sql} WHERE a = '${value}' AND bucket = 'minute'`))) return;
      for (const call of [
        () => sink.read(flow.shape, { bucket: "minute" }),
        () => flow.read({ table: sink, bigint: true }),
      ]) {
        const answer = await judged<unknown>(call());
        if (reported === "an answer") expect(answer).not.toBeInstanceOf(OrielError);
        else {
          expect(answer).toMatchObject({ code: "CORRUPT" });
          for (const part of [JSON.stringify(flow.name), "the table", "minute"])
            expect((answer as OrielError).message).toContain(part);
        }
      }
      expect(await sink.ledger(flow.shape)).toHaveLength(SHARDS);
      expect((await new CountersDoctor(flow, sink).diagnose()).map(({ verdict }) => verdict)).toEqual(["fits", "fits"]);
      await addAll();
      const errors = await drained();
      for (const error of errors) expect(error).toBeInstanceOf(OrielError);
      // A count that can be no larger keeps its shard back, and only that one.
      expect(errors.length).toBeLessThan(FULL.includes(sql) ? SHARDS : 1);
      await stage.run!(`DELETE FROM flow WHERE bucket = 'minute' AND count <> 2`);
      const { rows } = await sink.read(flow.shape, { bucket: "minute" });
      if (errors.length === 0) expect(rows).toHaveLength(VALUES.length - 1);
      expect(rows.length).toBeGreaterThan(0);
    },
  );

  test.each(LEDGER)(
    "a row of the ledger whose %s is %s is reported: %s, and the neighbour is drained",
    async (column, sql, isTold) => {
      const shard = random.int(0, SHARDS - 1);
      if (!(await written(`UPDATE ledger SET ${column} = ${sql} WHERE shard = ${shard}`))) return;
      await addAll();
      const errors = await drained();
      const doctor = new CountersDoctor(flow, sink);
      const verdicts = (await doctor.diagnose()).map(({ verdict }) => verdict);
      expect(verdicts[1 - shard]).toBe("fits");
      if (!isTold) return expect(errors).toEqual([]);
      expect(verdicts[shard]).toBe("damaged");
      for (const call of [Promise.reject(errors[0]), flow.read({ table: sink })]) {
        const error = await judged<unknown>(call);
        expect(error).toMatchObject({ code: "CORRUPT" });
        for (const part of [flow.name, "the row of the ledger", `shard ${shard}`])
          expect((error as OrielError).message).toContain(part);
      }
      const { rows } = await sink.read(flow.shape, { bucket: "minute" });
      const twice = rows.filter(({ count }) => count === 2n).length;
      expect([twice > 0, twice < VALUES.length]).toEqual([true, true]);
      expect((await doctor.repair({ setAside: true }))[0]).toMatchObject({ shard, isRepaired: false });
    },
  );
});
