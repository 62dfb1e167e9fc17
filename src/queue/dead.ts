import { script } from "../generated/queue/dead.ts";
import type { Operation } from "../store/contract.ts";
import { BAND_SIZE, DEAD, idOf, keysOfShard, MOST_BYTES, splitValue } from "./layout.ts";
import type { Looked } from "./look.ts";
import { Reader } from "./reader.ts";
import { shardAt } from "./shard.ts";

const HEAD_BYTES = 14;

/** Dead messages, those that died first before the others; law in lua/queue/dead.lua. */
export const dead: Operation<{ layout: string; passedOver: number; most: number }, Looked[]> = {
  name: "queue/dead",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: true,
  encode: ({ layout, passedOver, most }) => [layout, passedOver, most],
  decode(reply) {
    const reader = new Reader(reply);
    const found: Looked[] = [];
    while (!reader.isAtEnd) {
      const score = reader.f64();
      const id = reader.text();
      found.push({ id, score, ...splitValue(reader.bytes()), why: reader.text() });
    }
    return found;
  },
  local(keys, key, { layout, passedOver, most }) {
    const shard = shardAt(keys, key, layout);
    const found: Looked[] = [];
    let sizeBytes = 0;
    for (const [member, score] of shard.times.first(DEAD, BAND_SIZE, passedOver + most).slice(passedOver)) {
      const id = idOf(member);
      const stored = shard.messages.get(id)!;
      sizeBytes += HEAD_BYTES + stored.envelope.length;
      if (sizeBytes > MOST_BYTES && found.length > 0) break;
      found.push({ id, score, ...stored, why: shard.errors.get(id) ?? "" });
    }
    return found;
  },
};
