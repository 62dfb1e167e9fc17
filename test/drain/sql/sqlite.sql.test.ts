import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "node-sqlite3-wasm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SqliteDatabase, sqliteSink } from "../../../src/entries/sql.ts";
import { batch, freshShape, row } from "./batches.ts";

let folder: string;
let database: Database;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oriel-sqlite-"));
  database = new Database(join(folder, "counts.db"));
});
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});
const first = batch([row(["a", "1"], 1n)]);

async function made() {
  const sink = sqliteSink(database);
  const shape = freshShape();
  await sink.createTables(shape);
  return { sink, shape };
}

test("waits while another connection writes, but only for its time", async () => {
  const { sink, shape } = await made();
  const other = new Database(join(folder, "counts.db"));
  other.exec("BEGIN IMMEDIATE");
  await expect(sink.apply(shape, first, { timeoutMs: 30 })).rejects.toMatchObject({
    code: "DEADLINE",
    transient: true,
    applied: "no",
  });
  const waits = sink.apply(shape, first, { timeoutMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  other.exec("ROLLBACK");
  expect(await waits).toEqual({ status: "applied" });
  other.close();
});

test("does not touch the user's own transaction", async () => {
  const { sink, shape } = await made();
  database.exec("BEGIN; CREATE TABLE mine (n)");
  await expect(sink.apply(shape, first)).rejects.toMatchObject({ transient: true, applied: "no" });
  database.exec("COMMIT");
  expect(database.all("SELECT * FROM mine")).toEqual([]);
  expect(await sink.apply(shape, first)).toEqual({ status: "applied" });
});

test("uses each parameter in one place, as better-sqlite3 and node:sqlite require", async () => {
  const texts: string[] = [];
  const listening: SqliteDatabase = {
    exec: (text) => database.exec(text),
    prepare: (text) => {
      texts.push(text);
      return database.prepare(text);
    },
  };
  const sink = sqliteSink(listening);
  const shape = freshShape();
  await sink.createTables(shape);
  await sink.apply(shape, first);
  await sink.read(shape, { bucket: "minute", fromMs: 0, toMs: 1, values: { site: "a" } });
  expect(texts).toHaveLength(4);
  expect(texts.filter((text) => text.split(/\?(?!\d)/).length !== 2)).toEqual([]);
});
