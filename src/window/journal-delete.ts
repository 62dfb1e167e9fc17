import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { ChunkHeader } from "./chunk.ts";
import { DELETED, deleteChunk } from "./delete.ts";
import type { JournalReader } from "./journal-reader.ts";
import { closedKey } from "./rotate.ts";

const DELETED_AT_ONCE = 16;
const MOST_DELETE_ROUNDS = 100;

/** Deletes a journal as it stands; what others record meanwhile begins a new one. */
export async function deleteJournal(store: Store, key: string, reader: JournalReader): Promise<void> {
  let { header } = await reader.open("header");
  for (let round = 0; header; round++) {
    if (round === MOST_DELETE_ROUNDS) throw new OrielError("LOST", "the series kept changing", { transient: true });
    const { number, birth }: ChunkHeader = header;
    const result = await store.run(deleteChunk, key, birth);
    // Another birth: the chunk was closed meanwhile, and then is there under its number; or it is already deleted.
    const closed = result === DELETED.another ? await reader.closed(number) : undefined;
    await deleteClosed(store, key, reader, number - 1);
    if (closed?.header?.birth !== birth) return;
    header = (await reader.open("header")).header;
    await deleteClosed(store, key, reader, number);
  }
}

async function deleteClosed(store: Store, key: string, reader: JournalReader, newest: number): Promise<void> {
  for (let number = newest; ; number -= DELETED_AT_ONCE) {
    const numbers = Array.from({ length: DELETED_AT_ONCE }, (_, i) => number - i);
    const headers = (await Promise.all(numbers.map((each) => reader.closed(each)))).flatMap((one) => one.header ?? []);
    if (headers.length === 0) return;
    // By birth: a request that is repeated late, after a failover, may find another chunk under the number.
    await Promise.all(headers.map((one) => store.run(deleteChunk, closedKey(key, one.number), one.birth)));
  }
}
