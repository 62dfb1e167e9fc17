import { MAX_BYTES, SEQ_DIGITS } from "../../generated/layouts/queue.ts";
import { idOf, storedValueOf } from "../format/layout.ts";
import type { Reader } from "../format/reader.ts";
import type { Shard } from "../format/shard.ts";
import type { StoredMessage } from "./get.ts";

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
