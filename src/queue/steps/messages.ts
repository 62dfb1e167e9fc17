import {
  CANCELLED_MS,
  CLAIMED,
  DEAD,
  DONE,
  EXTENDED,
  MAX_BYTES,
  MOVE,
  SEQ_DIGITS,
} from "../../generated/layouts/queue.ts";
import { extendScript, getScript, moveScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import { cancelledMember } from "../format/envelope.ts";
import {
  type DueTime,
  dueMs,
  dueTimeText,
  idOf,
  keysOfShard,
  memberOf,
  Reader,
  readScore,
  scoreOf,
  storedValueOf,
} from "../format/layout.ts";
import { expireIfEmpty, publishDue, type Shard, saveShard, shardAt } from "../format/shard.ts";

/** A stored message. The score encodes its state, time and deliveries. */
export interface StoredMessage {
  id: string;
  score: number;
  /** Its value in the hash `messages`: seq and envelope. */
  value: Uint8Array;
  /** Why its last delivery failed; empty if none did. */
  why: string;
}

/** Reads a message by its id. Law in lua/queue/get.lua. */
export const get: Operation<{ layout: string; id: string }, StoredMessage | undefined> = {
  name: "queue/get",
  script: getScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 2,
  repeatable: true,
  encode: ({ layout, id }) => [layout, id],
  decode(reply) {
    if (reply.length === 0) return undefined;
    const reader = new Reader(reply);
    const score = reader.f64();
    return { id: "", score, value: reader.bytes(), why: reader.text() };
  },
  local(keys, key, { layout, id }) {
    const shard = shardAt(keys, key, layout);
    const stored = shard.messages.get(id);
    if (!stored) return undefined;
    const score = shard.times.scoreOf(memberOf(stored.seq, id))!;
    return { id: "", score, value: storedValueOf(stored), why: shard.errorOf(id) };
  },
};

export type MoveResult = "unknown" | "moved" | "claimed" | "dead";
const RESULTS: Record<number, MoveResult> = {
  [MOVE.unknown]: "unknown",
  [MOVE.moved]: "moved",
  [MOVE.claimed]: "claimed",
  [MOVE.dead]: "dead",
};

/** Cancels a message (`when` undefined), or changes when it is due. Law in lua/queue/move.lua. */
export const move: Operation<{ layout: string; id: string; when: DueTime | undefined }, MoveResult> = {
  name: "queue/move",
  script: moveScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: false,
  encode: ({ layout, id, when }) => [layout, id, when ? dueTimeText(when) : ""],
  decode: (reply) => RESULTS[reply[0]!]!,
  local(keys, key, { layout, id, when }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const stored = shard.messages.get(id);
    if (!stored) return "unknown";
    const member = memberOf(stored.seq, id);
    const { band, deliveries } = readScore(shard.times.scoreOf(member)!);
    if (band === CLAIMED) return "claimed";
    if (when && band === DEAD) return "dead";
    saveShard(keys, key, shard);
    if (!when) {
      shard.times.delete(member);
      shard.delete(id);
      shard.cancelledUntilMs = nowMs + CANCELLED_MS;
      shard.times.set(cancelledMember(stored.envelope, id), scoreOf(DONE, shard.cancelledUntilMs, 0));
      expireIfEmpty(keys, key, shard, nowMs);
      return "moved";
    }
    const due = dueMs(when, nowMs);
    const head = shard.head();
    shard.times.set(member, scoreOf(band, due, deliveries));
    if (due < head) publishDue(keys, key, due);
    return "moved";
  },
};

interface Extension {
  layout: string;
  held: readonly { member: string; deliveries: number }[];
  visibilityMs: number;
}

/** Extends claims. Returns for each message whether this delivery held it. Law in lua/queue/extend.lua. */
export const extend: Operation<Extension, boolean[]> = {
  name: "queue/extend",
  script: extendScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: true,
  encode: ({ layout, held, visibilityMs }) => [
    layout,
    packStrings(held.flatMap(({ member, deliveries }) => [member, `${deliveries}`])),
    visibilityMs,
  ],
  decode: (reply) => Array.from(reply, (byte) => byte === EXTENDED.extended),
  local(keys, key, { layout, held, visibilityMs }, nowMs) {
    const shard = shardAt(keys, key, layout);
    if (shard.layout !== undefined) saveShard(keys, key, shard);
    return held.map(({ member, deliveries }) => {
      const there = readScore(shard.times.scoreOf(member) ?? 0);
      if (there.band !== CLAIMED || there.deliveries !== deliveries) return false;
      shard.times.set(member, scoreOf(CLAIMED, Math.max(there.ms, nowMs + visibilityMs), deliveries));
      return true;
    });
  },
};

/** Reads the rest of a reply: messages in the form of lua/queue/stored-message.lua. */
export function readStoredMessages(reader: Reader): StoredMessage[] {
  const found: StoredMessage[] = [];
  while (!reader.isAtEnd) {
    const score = reader.f64();
    const id = reader.text();
    found.push({ id, score, value: reader.bytes(), why: reader.text() });
  }
  return found;
}

/** The twin of lua/queue/stored-message.lua: up to 1 MiB, or one message. */
export function storedMessages(shard: Shard, found: readonly [member: string, score: number][]): StoredMessage[] {
  const messages: StoredMessage[] = [];
  let sizeBytes = 0;
  for (const [member, score] of found) {
    const id = idOf(member);
    const stored = shard.messages.get(id)!;
    sizeBytes += SEQ_DIGITS + stored.envelope.length;
    if (sizeBytes > MAX_BYTES && messages.length > 0) break;
    messages.push({ id, score, value: storedValueOf(stored), why: shard.errorOf(id) });
  }
  return messages;
}
