import * as layout from "../../../generated/layouts/groups.ts";
import { appendInGroupsScript } from "../../../generated/scripts/groups.ts";
import type { StepOfArguments } from "../../../store/contract.ts";
import { answerOf, type JournalAnswer, STATUS } from "../../journal/format/answer.ts";
import { expiryOf, isEmptyFirst } from "../../journal/format/chunk.ts";
import type { ChunkBytes } from "../../journal/format/chunk-bytes.ts";
import { constants } from "../../journal/format/constants.ts";
import { type Append, append } from "../../journal/steps/append.ts";
import { type Dictionary, groupsKey, type KnownGroups } from "../dictionary.ts";

/** A status beside those of `append`: the known part of the dictionary is gone. */
export const REGROUPED = 7;

export interface AppendInGroups extends Append {
  /** The part of the dictionary by which the events got their numbers. */
  guard: KnownGroups;
}

/** Appends events of groups. Status REGROUPED if the dictionary has changed. lua/groups/append-in-groups.lua states the rules. */
export const appendInGroups: StepOfArguments<AppendInGroups, JournalAnswer> = {
  ...append,
  name: "groups/append-in-groups",
  script: appendInGroupsScript,
  arity: 5,
  keyCount: 2,
  keysOf: (key) => [key, groupsKey(key)],
  encode: (input) => [...append.encode(input), encodeGuard(input.guard)],
  local(keys, key, input, nowMs) {
    const { guard } = input;
    const dictionary = keys.get(groupsKey(key)) as Dictionary | undefined;
    const found = keys.get(key) as ChunkBytes | undefined;
    const refusal = (status: number) => answerOf(status, nowMs, found, new Uint8Array(0), false);
    if (!dictionary?.has(guard)) return refusal(REGROUPED);
    const { format, valueType, number } = found?.header ?? { ...input, format: constants.format, number: nowMs };
    if (number < guard.firstChunk && format === constants.format && valueType === input.valueType) {
      if (found && !isEmptyFirst(found.header, found.length)) return refusal(STATUS.old);
      keys.delete(groupsKey(key));
      return refusal(REGROUPED);
    }
    const answer = append.local!(keys, key, input, nowMs);
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (answer.status === STATUS.done && chunk) {
      const expireAtMs = Math.max(dictionary.expireAtMs, expiryOf(chunk.header) + constants.expirySlackMs);
      keys.set(groupsKey(key), dictionary, dictionary.sizeBytes(), expireAtMs);
      dictionary.expireAtMs = expireAtMs;
    }
    return answer;
  },
};

function encodeGuard({ length, nonce, firstChunk }: KnownGroups): Uint8Array {
  const view = new DataView(new ArrayBuffer(layout.GUARD_BYTES));
  view.setUint32(layout.GUARD_LENGTH_AT, length, true);
  view.setUint32(layout.GUARD_NONCE_AT, nonce, true);
  view.setFloat64(layout.GUARD_FIRST_CHUNK_AT, firstChunk, true);
  return new Uint8Array(view.buffer);
}
