import { OrielError } from "../../../base/errors.ts";
import type { Store } from "../../../store/contract.ts";
import type { JournalAnswer } from "../../journal/format/answer.ts";
import { constants } from "../../journal/format/constants.ts";
import type { JournalReader } from "../../journal/replica/journal-reader.ts";
import { DELETED, deleteChunk } from "../../journal/steps/delete.ts";
import { closedKey } from "../../journal/steps/rotate.ts";
import { UNSURE } from "../refused.ts";

const DELETED_AT_ONCE = 16;
const MAX_ROUNDS = 100;

/** Deletes a journal as it is now. Events recorded by others meanwhile begin a new one. */
export async function deleteJournal(store: Store, key: string, reader: JournalReader): Promise<void> {
  let seen = await reader.open("header");
  for (let round = 0; seen.header; round++) {
    if (round === MAX_ROUNDS) throw new OrielError("LOST", "the series kept changing", { transient: true });
    const { number, birth } = seen.header;
    const result = await deleteSeen(store, key, seen, true);
    // With another birth, the chunk was closed meanwhile and has a key of its own, or it is already deleted.
    const closed = result === DELETED.another ? await reader.closed(number) : undefined;
    await deleteClosed(store, key, reader, number - 1);
    if (closed?.header?.birth !== birth) return;
    seen = await reader.open("header");
    await deleteClosed(store, key, reader, number);
  }
}

async function deleteClosed(store: Store, key: string, reader: JournalReader, newest: number): Promise<void> {
  for (let number = newest; ; number -= DELETED_AT_ONCE) {
    const numbers = Array.from({ length: DELETED_AT_ONCE }, (_, i) => number - i);
    const seen = (await Promise.all(numbers.map((each) => reader.closed(each)))).filter((one) => one.header);
    if (seen.length === 0) return;
    await Promise.all(seen.map((one) => deleteSeen(store, closedKey(key, one.header!.number), one, false)));
  }
}

/**
 * Deletes only a chunk of the same birth, because others may have begun a new journal. The request expires: after a
 * failover that undid it, a late copy would find the same birth with events recorded since.
 */
async function deleteSeen(
  store: Store,
  key: string,
  { header, nowMs }: JournalAnswer,
  isOpen: boolean,
): Promise<number> {
  const result = await store.run(deleteChunk, key, {
    birth: header!.birth,
    voidAfterMs: nowMs + constants.voidAfterMs,
    isOpen,
  });
  if (result !== DELETED.void) return result;
  const late = `the deletion was sent more than ${constants.voidAfterMs} ms after the series was read`;
  throw new OrielError("STALE", late, UNSURE);
}
