import {
  AGREED_BYTES,
  AGREED_PLAIN_AT,
  IN_USE_MS,
  LISTED_BYTES,
  LISTED_POSITION_AT,
  LISTED_SHARDS_AT,
  LISTED_WHOLE_AGO_MS_AT,
  SPREAD_BYTES,
  SPREADS_BYTES,
} from "../../../generated/layouts/shards.ts";
import { agreeScript } from "../../../generated/scripts/shards.ts";
import type { StepOfArguments } from "../../../store/contract.ts";
import { ARRAY_BYTES } from "../../../store/memory/heap-bytes.ts";
import { refusal } from "../../../store/refusal.ts";

/** A number of shards in which processes record. Of a list of servers, this one has the shard at `position`, from 1. 0: there is no list. */
interface Spread {
  readonly shards: number;
  readonly position: number;
}

export interface Agree extends Spread {
  /** A hash of what all shards must share: the type of the values, the clock and the labels. */
  kind: number;
  /** The spread is listed for as long from now on; 0: it is not noted. */
  keepMs: number;
  /** The process begins, and may be refused. */
  isFirst: boolean;
  /** How long ago the process had noted its spread on every server of a list; -1: it has not yet. */
  wholeAgoMs: number;
}

export interface Listed extends Spread {
  /** The same of any process. */
  readonly wholeAgoMs: number;
}

export interface Agreed {
  /** Whether the series has events without shards. */
  isPlain: boolean;
  spreads: readonly Listed[];
}

interface Noted extends Spread {
  /** The same for all of a list. */
  kind: number;
  seenMs: number;
  keepMs: number;
  wholeMs: number;
}

/** Lists the spreads of a sharded series. The key is the one of the series without shards. lua/shards/agree.lua states the rules. */
export const agree: StepOfArguments<Agree, Agreed> = {
  name: "shards/agree",
  script: agreeScript,
  arity: 6,
  keyCount: 2,
  keysOf: (key) => [`${key}:shards`, key],
  repeatable: true,
  encode: ({ shards, position, kind, keepMs, isFirst, wholeAgoMs }) => [
    ...[shards, position, kind, keepMs, isFirst ? 1 : 0, wholeAgoMs],
  ],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const spreads: Listed[] = [];
    for (let at = AGREED_BYTES; at < reply.length; at += LISTED_BYTES)
      spreads.push({
        shards: view.getUint32(at + LISTED_SHARDS_AT, true),
        position: view.getUint32(at + LISTED_POSITION_AT, true),
        wholeAgoMs: view.getFloat64(at + LISTED_WHOLE_AGO_MS_AT, true),
      });
    return { isPlain: view.getUint32(AGREED_PLAIN_AT, true) === 1, spreads };
  },
  local(keys, key, { keepMs, isFirst, wholeAgoMs, ...own }, nowMs) {
    const at = `${key}:shards`;
    const noted = ((keys.get(at) as readonly Noted[] | undefined) ?? [])
      .map((one) => ({ ...one, seenMs: Math.min(one.seenMs, nowMs), wholeMs: Math.min(one.wholeMs, nowMs) }))
      .filter((one) => one.seenMs + one.keepMs >= nowMs);
    if (isFirst) checkAgreed(noted, own, nowMs);
    if (keepMs > 0) {
      const known = noted.find((one) => one.shards === own.shards && one.position === own.position);
      const wholeMs = wholeAgoMs < 0 ? 0 : Math.max(0, nowMs - wholeAgoMs);
      if (known) {
        const longest = { keepMs: Math.max(keepMs, known.keepMs), wholeMs: Math.max(wholeMs, known.wholeMs) };
        Object.assign(known, { seenMs: nowMs, ...longest });
      } else noted.push({ ...own, kind: noted[0]?.kind ?? own.kind, seenMs: nowMs, keepMs, wholeMs });
      const lastMs = Math.max(...noted.map((one) => one.seenMs + one.keepMs));
      keys.set(at, noted, ARRAY_BYTES + SPREADS_BYTES + noted.length * SPREAD_BYTES, lastMs);
    }
    return {
      isPlain: keys.get(key) !== undefined,
      spreads: noted.map(({ shards, position, wholeMs }) => ({
        ...{ shards, position },
        wholeAgoMs: wholeMs === 0 ? -1 : nowMs - wholeMs,
      })),
    };
  },
};

function checkAgreed(
  noted: readonly Noted[],
  { shards, position, kind }: Omit<Agree, "keepMs" | "isFirst" | "wholeAgoMs">,
  nowMs: number,
): void {
  if (noted.length > 0 && noted[0]!.kind !== kind)
    throw refusal(
      "MISMATCH",
      "its shards have other values, another clock, or other labels or their order; choose another name",
    );
  for (const one of noted) {
    if (nowMs - one.seenMs >= IN_USE_MS) continue;
    if (one.shards > shards)
      throw refusal(
        "MISMATCH",
        `other processes record in ${one.shards} shards, and this one in ${shards}; name as many, or begin ${IN_USE_MS / 1000} s after the last of them ended`,
      );
    if (one.position !== position)
      throw refusal(
        "MISMATCH",
        `this server is ${positionText(position)} for this process, and ${positionText(one.position)} for others`,
      );
  }
}

function positionText(position: number): string {
  return position === 0 ? "the only one" : `number ${position} of a list`;
}
