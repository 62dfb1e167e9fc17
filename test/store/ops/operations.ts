import { composeScript } from "../../../scripts/lua/compose-script.mjs";
import type { Operation, PackedStep } from "../../../src/store/contract.ts";
import { packed } from "../../../src/store/delivery/packed.ts";
import { refusal } from "../../../src/store/refusal.ts";
import { bytesOf, textOf } from "../contract/latin1.ts";

/** Step files of the operations below, by name, for `onSteppedClock`. */
export const files: Record<string, string> = Object.fromEntries(
  ["append", "tally", "move", "remove", "break", "count"].map((name) => [
    `test/${name}`,
    new URL(`./${name}.lua`, import.meta.url).pathname,
  ]),
);
const scriptOf = (name: string) => composeScript(files[`test/${name}`]!);
const numberOf = (reply: Uint8Array) => Number(textOf(reply));

export interface Append {
  bytes: Uint8Array;
  maxBytes: number;
  lifetimeMs: number;
}
/** Twin of append.lua; not repeatable: each run appends. */
export const append: Operation<Append, { length: number; nowMs: number }> = {
  name: "test/append",
  script: scriptOf("append"),
  arity: 3,
  keyCount: 1,
  repeatable: false,
  encode: ({ bytes, maxBytes, lifetimeMs }) => [bytes, maxBytes, lifetimeMs],
  decode: (reply) => {
    const [length, nowMs] = textOf(reply).split(" ").map(Number);
    return { length: length!, nowMs: nowMs! };
  },
  local(keys, key, { bytes, maxBytes, lifetimeMs }, nowMs) {
    const before = (keys.get(key) as Uint8Array | undefined) ?? new Uint8Array(0);
    const length = before.length + bytes.length;
    if (length > maxBytes) throw refusal("TOO_LARGE", `more than ${maxBytes} bytes`);
    const joined = new Uint8Array(length);
    joined.set(before);
    joined.set(bytes, before.length);
    keys.set(key, joined, length, lifetimeMs > 0 ? nowMs + lifetimeMs : Number.POSITIVE_INFINITY);
    return { length, nowMs };
  },
};

/** Twin of tally.lua; repeatable: an id counts once. */
export const tally: Operation<string, number> = {
  name: "test/tally",
  script: scriptOf("tally"),
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (id) => [id],
  decode: numberOf,
  local(keys, key, id) {
    const before = textOf((keys.get(key) as Uint8Array | undefined) ?? new Uint8Array());
    for (let place = 0; place < before.length; place += 4)
      if (before.slice(place, place + 4) === id) return before.length / 4;
    keys.set(key, bytesOf(before + id), before.length + 4, Number.POSITIVE_INFINITY);
    return before.length / 4 + 1;
  },
};

/** Twin of move.lua: from the key to `<key>:1`, which does not expire. */
export const move: Operation<void, number> = {
  name: "test/move",
  script: scriptOf("move"),
  arity: 0,
  keyCount: 2,
  repeatable: false,
  keysOf: (key) => [key, `${key}:1`],
  encode: () => [],
  decode: numberOf,
  local(keys, key) {
    const bytes = (keys.get(key) as Uint8Array | undefined) ?? new Uint8Array(0);
    if (bytes.length === 0) throw refusal("LOST", "nothing to move");
    keys.set(`${key}:1`, bytes, bytes.length, Number.POSITIVE_INFINITY);
    keys.delete(key);
    return bytes.length;
  },
};

/** Twin of remove.lua. */
export const remove: Operation<void, Uint8Array> = {
  name: "test/remove",
  script: scriptOf("remove"),
  arity: 0,
  keyCount: 1,
  repeatable: false,
  encode: () => [],
  decode: (reply) => reply,
  local(keys, key) {
    const bytes = keys.get(key) as Uint8Array | undefined;
    keys.delete(key);
    return bytes ?? new Uint8Array(0);
  },
};

/** Twin of break.lua. */
export const breakOff: Operation<boolean, string> = {
  name: "test/break",
  script: scriptOf("break"),
  arity: 1,
  keyCount: 1,
  repeatable: false,
  encode: (broken) => [broken ? "yes" : "no"],
  decode: textOf,
  local(_keys, _key, broken) {
    if (broken) throw new Error("broken on purpose");
    return "whole";
  },
};

export interface Amount {
  amount: number;
  most: number;
}

/** Twin of count.lua; not repeatable: each run adds. */
export const count: PackedStep<Amount, { total: number; nowMs: number }> = {
  name: "test/count",
  script: scriptOf("count"),
  keyCount: 1,
  repeatable: false,
  packing: packed({
    inputBytes: 16,
    answerBytes: 16,
    write(view, at, { amount, most }) {
      view.setFloat64(at, amount, true);
      view.setFloat64(at + 8, most, true);
    },
    read: (view, at) => ({ total: view.getFloat64(at, true), nowMs: view.getFloat64(at + 8, true) }),
  }),
  local(keys, key, { amount, most }, nowMs) {
    if (amount === 13) throw new Error("broken on purpose");
    const before = keys.get(key) as Uint8Array | undefined;
    const total = (before ? numberOf(before) : 0) + amount;
    if (total > most) throw refusal("TOO_LARGE", `more than ${most}`);
    const bytes = bytesOf(String(total));
    keys.set(key, bytes, bytes.length, Number.POSITIVE_INFINITY);
    return { total, nowMs };
  },
};
