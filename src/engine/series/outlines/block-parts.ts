import type { Store } from "../../../store/contract.ts";
import { Checksum } from "../../journal/sealed/checksum.ts";
import type { ChunkOutline, OutlinedBlock } from "../../journal/sealed/outline.ts";
import type { Groups, RankSearch } from "../../journal/sealed/rank-search.ts";
import { readParts } from "../../journal/sealed/steps/read-parts.ts";
import { DamagedChunk } from "../../journal/steps/corrupt.ts";
import { closedKey } from "../../journal/steps/rotate.ts";
import { decodeValues } from "../../kernel/blocks/block.ts";
import { activeBlocks } from "../../kernel/blocks/choose.ts";
import { decodeTimes } from "../../kernel/blocks/times.ts";
import type { Column } from "../../kernel/contract.ts";

/** A part of a sealed chunk to request: all of a block, or some of its groups, for a search. */
export interface Wanted {
  outline: ChunkOutline;
  block: OutlinedBlock;
  groups: Groups | undefined;
  search?: RankSearch;
}

/** Requests parts of sealed chunks, and decodes them. */
export class BlockParts {
  fetchedBytes = 0;
  /** Turns of requests. */
  requests = 0;
  readonly #store: Store;
  readonly #key: string;
  /** The bytes of whole blocks. */
  readonly #whole = new Map<OutlinedBlock, { outline: ChunkOutline; bytes: Uint8Array }>();

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Requests all parts in one turn. False if a chunk is not the outlined one any more. */
  async fetch(wanted: readonly Wanted[]): Promise<boolean> {
    if (wanted.length > 0) this.requests++;
    const byChunk = new Map<ChunkOutline, Wanted[]>();
    for (const one of wanted) {
      const list = byChunk.get(one.outline);
      if (list) list.push(one);
      else byChunk.set(one.outline, [one]);
    }
    const found = await Promise.all([...byChunk].map(([outline, list]) => this.#fetchFrom(outline, list)));
    return !found.includes(false);
  }

  /** The values of a block whose times pass. The block must have been fetched whole. Throws DamagedChunk. */
  valuesInside(block: OutlinedBlock, isInside: (ms: number) => boolean): Column {
    const { outline, bytes } = this.#whole.get(block)!;
    const { head, headBytes, totals, checksum } = block;
    const { number } = outline.header;
    if (new Checksum().add(bytes).value !== checksum)
      throw new DamagedChunk(number, "has a damaged block: another checksum");
    const body = bytes.subarray(0, head.bodyBytes);
    const order = bytes.subarray(head.bodyBytes, head.bodyBytes + head.orderBytes);
    const values = head.wide ? new Float64Array(head.count) : new Float32Array(head.count);
    decodeValues(activeBlocks(), head, { head: headBytes, body, order }, values);
    if (!totals) return values;
    const times = new Float64Array(head.count);
    decodeTimes(activeBlocks(), head, totals.earliestMs, bytes.subarray(head.bodyBytes + head.orderBytes), times);
    return values.filter((_, i) => isInside(times[i]!));
  }

  async #fetchFrom(outline: ChunkOutline, wanted: readonly Wanted[]): Promise<boolean> {
    const { header, checksum } = outline;
    const { number, birth } = header;
    const parts = wanted.map(({ block, groups }): [number, number] =>
      groups ? [block.at + groups.from, groups.length] : [block.at, sizeOf(block)],
    );
    const bytes = await this.#store.run(readParts, closedKey(this.#key, number), { birth, checksum, parts });
    if (!bytes) return false;
    this.fetchedBytes += bytes.length;
    if (bytes.length !== parts.reduce((sum, [, length]) => sum + length, 0))
      throw new DamagedChunk(number, "has parts of other lengths than its heads name");
    let at = 0;
    for (const [i, { block, groups, search }] of wanted.entries()) {
      const part = bytes.subarray(at, at + parts[i]![1]);
      at += part.length;
      if (groups) search!.addGroups(activeBlocks(), block, groups, part);
      else this.#whole.set(block, { outline, bytes: part });
    }
    return true;
  }
}

function sizeOf({ head }: OutlinedBlock): number {
  return head.bodyBytes + head.orderBytes + head.timesBytes;
}
