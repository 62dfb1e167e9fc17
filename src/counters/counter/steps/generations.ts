import { corruptError } from "../../../base/errors.ts";
import {
  FROZEN_ACKNOWLEDGED_AT,
  FROZEN_BYTES,
  FROZEN_GENERATION_AT,
  PARTED_GENERATION_AT,
  STATUS,
  SWEPT_FIELDS_AT,
} from "../../../generated/layouts/counter.ts";
import { acknowledgeScript, freezeScript, partScript, sweepScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { packStrings } from "../../../store/message-pack.ts";
import { change, shardAt } from "./shard.ts";

export interface Frozen {
  /** The last acknowledged generation, by its number in the ledger. */
  acknowledged: number;
  /** The frozen generation. Undefined if there is nothing to drain. */
  generation?: { number: number; nonce: string; sum: bigint };
}

/** Freezes the current generation, unless an earlier one is frozen. Law in lua/counter/freeze.lua. */
export const freeze: Operation<{ layout: string; nonce: string }, Frozen> = {
  name: "counter/freeze",
  script: freezeScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  mustLast: true,
  encode: ({ layout, nonce }) => [layout, nonce],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    const acknowledged = view.getFloat64(FROZEN_ACKNOWLEDGED_AT, true);
    const number = view.getFloat64(FROZEN_GENERATION_AT, true);
    if (number === 0) return { acknowledged };
    const [nonce, sum] = new TextDecoder().decode(reply.subarray(FROZEN_BYTES)).split(" ") as [string, string];
    return { acknowledged, generation: { number, nonce, sum: BigInt(sum) } };
  },
  local(keys, key, { layout, nonce }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    const own = acknowledged + 1;
    const sum = shard.get(`@n:${own}`);
    if (current === own && sum === undefined) return { acknowledged: acknowledged + base };
    if (!/^\d+$/.test(sum ?? "")) throw corruptError(key, `its field @n:${own} is not a whole number`);
    if (current === own || shard.get(`@x:${own}`) === undefined)
      change(keys, key, shard, 256, () => {
        const born = shard.get("@born");
        shard.set(`@x:${own}`, `${nonce}-${nowMs}${born === undefined ? "" : `-b${born}`}`);
        if (current === own) shard.set("@cur", `${current + 1}`);
      });
    const generation = { number: own + base, nonce: shard.get(`@x:${own}`)!, sum: BigInt(sum!) };
    return { acknowledged: acknowledged + base, generation };
  },
};

export interface Acknowledgement {
  layout: string;
  /** Its number in the ledger. */
  generation: number;
  nonce: string;
}

/** Records that a generation is in the table. False if it is not the frozen one. Law in lua/counter/acknowledge.lua. */
export const acknowledge: Operation<Acknowledgement, boolean> = {
  name: "counter/acknowledge",
  script: acknowledgeScript,
  keyCount: 1,
  arity: 3,
  repeatable: true,
  encode: ({ layout, generation, nonce }) => [layout, generation, nonce],
  decode: (reply) => reply[0] === STATUS.done,
  local(keys, key, { layout, generation, nonce }) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    const own = generation - base;
    if (acknowledged >= own) return true;
    if (own !== acknowledged + 1 || current === own || shard.get(`@x:${own}`) !== nonce) return false;
    change(keys, key, shard, 64, () => {
      shard.set("@ack", `${own}`);
      for (const field of [`@x:${own}`, `@n:${own}`, "@pure"]) shard.delete(field);
      const left = shard.again.filter(({ name, generation }) => generation > own || !shard.delete(name));
      shard.setAgain(left.map(({ name }) => name));
    });
    return true;
  },
};

/**
 * Starts a new generation because the shard does not fit a ledger that was read before. Returns the first generation,
 * by its number in the fields, that began after that read; 0 if there is no shard. Law in lua/counter/part.lua.
 */
export const part: Operation<{ layout: string; ledger: string }, number> = {
  name: "counter/part",
  script: partScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  encode: ({ layout, ledger }) => [layout, ledger],
  decode: (reply) => new DataView(reply.buffer, reply.byteOffset, reply.length).getFloat64(PARTED_GENERATION_AT, true),
  local(keys, key, { layout, ledger }) {
    const shard = shardAt(keys, key, layout);
    if (shard.get("@layout") === undefined) return 0;
    const pure = /^(\d+) (.*)$/s.exec(shard.get("@pure") ?? "");
    if (pure?.[2] === ledger) return Number(pure[1]);
    let { current } = shard.numbers;
    change(keys, key, shard, 256, () => {
      if (shard.get(`@n:${current}`) !== undefined) shard.set("@cur", `${++current}`);
      shard.set("@pure", `${current} ${ledger}`);
    });
    return current;
  },
};

/** A ledger's row as `part` and a shard's @pure name it. */
export function ledgerText({ generation, nonce }: { generation: number; nonce: string }): string {
  return `${generation} ${nonce}`;
}

export interface Leftovers {
  layout: string;
  /** Names of fields in alternation with the expected values of marks ("" for other fields). */
  fields: readonly string[];
}

/** Deletes fields that no longer count. Returns their number. Law in lua/counter/sweep.lua. */
export const sweep: Operation<Leftovers, number> = {
  name: "counter/sweep",
  script: sweepScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  encode: ({ layout, fields }) => [layout, packStrings(fields)],
  decode: (reply) => new DataView(reply.buffer, reply.byteOffset).getFloat64(SWEPT_FIELDS_AT, true),
  local(keys, key, { layout, fields }) {
    const shard = shardAt(keys, key, layout);
    const acknowledged = shard.number("@ack", 0);
    const goes = (field: string, position: string | undefined) => {
      const generation = /^(\d+)\|/.exec(field)?.[1];
      if (generation !== undefined) return Number(generation) <= acknowledged;
      return field.startsWith("w:") && shard.get(field) === position;
    };
    const going = fields.filter((field, i) => i % 2 === 0 && goes(field, fields[i + 1]));
    if (going.length === 0) return 0;
    let gone = 0;
    change(keys, key, shard, 0, () => {
      for (const field of going) if (shard.delete(field)) gone++;
    });
    return gone;
  },
};
