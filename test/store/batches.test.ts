import { expect, test } from "vitest";
import { add } from "../../src/counters/counter/steps/add.ts";
import type { Operation } from "../../src/store/contract.ts";
import { Call } from "../../src/store/delivery/call.ts";
import { Batches } from "../../src/store/delivery/script-store.ts";
import { slotOf } from "../../src/store/keys.ts";

const NONE = { layout: "", mark: "", before: "", after: "", total: 0 };

function callOf(key: string, bytes: number, replicas = 0, operation: unknown = add): Call {
  const input = { ...NONE, rows: new Uint8Array(bytes) };
  return new Call(operation as Operation<unknown, unknown>, key, input, { replicas }, () => {});
}

function stage(bySlot: boolean) {
  const sent: string[][] = [];
  const batches = new Batches(
    bySlot ? slotOf : undefined,
    () => false,
    (calls) => sent.push(calls.map(({ keys }) => keys[0]!)),
  );
  return { sent, batches, turn: () => new Promise((resolve) => setImmediate(resolve)) };
}

test("calls of one turn are sent together, in order", async () => {
  const { sent, batches, turn } = stage(false);
  for (const key of ["a", "b", "c"]) batches.add(callOf(key, 10));
  expect(sent).toEqual([]);
  await turn();
  expect(sent).toEqual([["a", "b", "c"]]);
});

test("a full batch is sent before the turn ends: 128 KiB of counts, or 256 keys", async () => {
  const { sent, batches, turn } = stage(false);
  for (const key of ["a", "b", "c"]) batches.add(callOf(key, 60_000));
  expect(sent).toEqual([["a", "b"]]);
  batches.add(callOf("d", 500_000));
  expect(sent).toEqual([["a", "b"], ["c"]]);
  await turn();
  expect(sent.slice(2)).toEqual([["d"]]);
  for (let i = 0; i < 257; i++) batches.add(callOf(`${i}`, 1));
  expect(sent[3]).toHaveLength(256);
  await turn();
  expect(sent[4]).toEqual(["256"]);
});

test("on a cluster, and with replicas, only related calls are sent together", async () => {
  const { sent, batches, turn } = stage(true);
  for (const key of ["{a}1", "{b}1", "{a}2"]) batches.add(callOf(key, 10));
  batches.add(callOf("{a}3", 10, 1));
  await turn();
  expect(sent).toEqual([["{a}1", "{a}2"], ["{b}1"], ["{a}3"]]);
});

test("operations of one name that differ otherwise never share a call", async () => {
  for (const bySlot of [false, true]) {
    const { sent, batches, turn } = stage(bySlot);
    const other = { ...add };
    batches.add(callOf("{a}1", 10));
    batches.add(callOf("{a}2", 10, 0, other));
    batches.add(callOf("{a}3", 10, 1));
    batches.add(callOf("{a}4", 10, 1, other));
    batches.add(callOf("{a}5", 10));
    await turn();
    expect(sent.sort()).toEqual([["{a}1", "{a}5"], ["{a}2"], ["{a}3"], ["{a}4"]]);
  }
});
