import { corruptError } from "../../../base/errors.ts";
import { MAX_ENDED_GENERATIONS, STATUS } from "../../../generated/layouts/counter.ts";
import { rebaseScript, setAsideScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { packStrings } from "../../../store/message-pack.ts";
import { isInTable } from "./add.ts";
import { change, type Shard, shardAt } from "./shard.ts";

export interface Rebase {
  layout: string;
  /** The observed state of the shard, `<born> <base> <acknowledged>`. */
  seen: string;
  /** The ledger's generation. */
  ledger: number;
  /** The last generation to drop, by its number in the fields. Undefined: only acknowledged ones are dropped. */
  leftOut: number | undefined;
  /** When the shard of the ledger's last generation was created, ms. Earlier acknowledged batches are in the table. */
  ledgerBornMs: number;
  /** Ended generations with a wrong sum: number, stored sum, correct sum, in alternation. */
  sums: readonly string[];
}

/**
 * Makes a shard continue from a ledger that it does not fit. False if the shard has changed. Law in
 * lua/counter/rebase.lua.
 */
export const rebase: Operation<Rebase, boolean> = {
  name: "counter/rebase",
  script: rebaseScript,
  keyCount: 1,
  arity: 6,
  repeatable: true,
  encode: ({ layout, seen, ledger, leftOut, ledgerBornMs, sums }) => [
    ...[layout, seen, ledger],
    ...[leftOut ?? "", ledgerBornMs.toString(16), packStrings(sums)],
  ],
  decode: (reply) => reply[0] === STATUS.done,
  local(keys, key, { layout, seen, ledger, leftOut, ledgerBornMs, sums }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    if (`${shard.get("@born") ?? ""} ${base} ${acknowledged}` !== seen) return false;
    const last = Math.max(acknowledged, leftOut ?? acknowledged);
    if (last >= current) return false;
    if (current - acknowledged > MAX_ENDED_GENERATIONS)
      throw corruptError(
        key,
        `its generation being filled is ${current - acknowledged} after the last one acknowledged`,
      );
    for (let i = 0; i < sums.length; i += 3)
      if (Number(sums[i]) >= current || (shard.get(`@n:${sums[i]}`) ?? "") !== sums[i + 1]) return false;
    const limit = `${ledgerBornMs.toString(16)} ${ledger}`;
    change(keys, key, shard, 256, () => {
      if (shard.get("@layout") === undefined) {
        shard.set("@layout", layout);
        shard.set("@born", nowMs.toString(16));
        shard.set("@cur", "1");
      }
      for (const { name, generation, where } of shard.again) {
        if (generation > last && isInTable(where, limit)) takeOut(shard, generation, shard.get(name)!);
        shard.delete(name);
      }
      for (let i = 0; i < sums.length; i += 3) shard.set(`@n:${sums[i]}`, sums[i + 2]!);
      for (let generation = acknowledged + 1; generation <= current; generation++) {
        shard.delete(`@x:${generation}`);
        if (generation <= last) shard.delete(`@n:${generation}`);
      }
      for (const field of ["@again", "@pure"]) shard.delete(field);
      shard.set("@ack", `${last}`);
      shard.set("@base", `${ledger - last}`);
      shard.set("@rebased", limit);
    });
    return true;
  },
};

function takeOut(shard: Shard, generation: number, rows: string): void {
  const parts = rows.split("%;");
  for (let i = 0; i < parts.length; i += 2) {
    const field = `${generation}|${parts[i]}`;
    shard.add(field, -BigInt(parts[i + 1]!));
    if (shard.get(field) === "0") shard.delete(field);
    shard.add(`@n:${generation}`, -BigInt(parts[i + 1]!));
  }
}

export interface SetAside {
  /** Another key of the shard's slot. */
  aside: string;
  /** The observed state of the key, `<type> <layout> <born>`, with "-" for a missing part. */
  seen: string;
}

/** Renames a shard's key. False if its state is not the observed one. Law in lua/counter/set-aside.lua. */
export const setAside: Operation<SetAside, boolean> = {
  name: "counter/set-aside",
  script: setAsideScript,
  keyCount: 2,
  arity: 1,
  repeatable: false,
  keysOf: (key, { aside }) => [key, aside],
  encode: ({ seen }) => [seen],
  decode: (reply) => reply[0] === STATUS.done,
  local(keys, key, { aside, seen }) {
    const shard = keys.get(key) as Shard | undefined;
    if (!shard || keys.get(aside) !== undefined) return false;
    if (`hash ${shard.get("@layout") ?? "-"} ${shard.get("@born") ?? "-"}` !== seen) return false;
    keys.delete(key);
    keys.set(aside, shard, shard.sizeBytes, Number.POSITIVE_INFINITY);
    return true;
  },
};
