import { script } from "../generated/queue/peek.ts";
import type { Operation } from "../store/contract.ts";
import { BAND_SIZE, idOf, keysOfShard, MOST_BYTES, readScore, splitValue } from "./layout.ts";
import type { Looked } from "./look.ts";
import { Reader } from "./reader.ts";
import { shardAt } from "./shard.ts";

const HEAD_BYTES = 14;

export interface Peeked {
  nowMs: number;
  waiting: Looked[];
}

/** The first messages that wait, of each priority; law in lua/queue/peek.lua. */
export const peek: Operation<{ layout: string; most: number }, Peeked> = {
  name: "queue/peek",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 2,
  repeatable: true,
  encode: ({ layout, most }) => [layout, most],
  decode(reply) {
    const reader = new Reader(reply);
    const nowMs = reader.f64();
    const waiting: Looked[] = [];
    while (!reader.isAtEnd) {
      const score = reader.f64();
      waiting.push({ score, id: reader.text(), ...splitValue(reader.bytes()), why: reader.text() });
    }
    return { nowMs, waiting };
  },
  local(keys, key, { layout, most }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const waiting: Looked[] = [];
    let bytes = 0;
    for (const level of shard.levels)
      for (const [member, score] of shard.times.first(level, BAND_SIZE, most)) {
        const id = idOf(member);
        const stored = shard.messages.get(id)!;
        bytes += HEAD_BYTES + stored.envelope.length;
        if (bytes > MOST_BYTES && waiting.length > 0) return { nowMs, waiting };
        waiting.push({ id, score, ...stored, why: shard.errors.get(id) ?? "" });
      }
    return { nowMs, waiting };
  },
};

/** What is due comes by priority, the rest by time; at one ms and priority in order of adding. */
export function inOrder(shards: readonly Peeked[]): Looked[] {
  const all = shards.flatMap(({ nowMs, waiting }) =>
    waiting.map((looked) => {
      const { band, ms } = readScore(looked.score);
      return { looked, priority: band, ms, isDue: ms <= nowMs };
    }),
  );
  return all
    .sort((a, b) => {
      if (a.isDue !== b.isDue) return a.isDue ? -1 : 1;
      const [byPriority, byTime] = [b.priority - a.priority, a.ms - b.ms];
      return (a.isDue ? byPriority || byTime : byTime || byPriority) || a.looked.seq - b.looked.seq;
    })
    .map(({ looked }) => looked);
}
