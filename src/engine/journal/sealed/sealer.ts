import { isEdgeRuntime } from "../../../base/async/edge-runtime.ts";
import type { Store } from "../../../store/contract.ts";
import type { BlockCodec } from "../../kernel/blocks/contract.ts";
import type { Kernel } from "../../kernel/contract.ts";
import { FRAME_HEADER_BYTES, type JournalAnswer } from "../format/answer.ts";
import { type ChunkHeader, isSound } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";
import { Dedupe } from "../format/dedupe.ts";
import { type ReadRequest, read } from "../steps/read.ts";
import { closedKey } from "../steps/rotate.ts";
import { encodeSealed } from "./encode-chunk.ts";
import { isExact } from "./is-exact.ts";
import type { SealedNames } from "./names.ts";
import { admitFrames, eventsOf, type RawChunk } from "./raw-chunk.ts";
import { SealedChunk } from "./sealed-chunk.ts";
import { SEALED, seal } from "./steps/seal.ts";

/** Bounds of a chunk, and of everything that one turn reads. A chunk beyond them is not sealed. */
const MAX_CHUNK_BYTES = 4 << 20;
const MAX_TURN_BYTES = 32 << 20;
const MAX_CHUNKS_BEFORE = 128;
const HEADERS_PER_TURN = 8;
const NO_FRAME = new Uint8Array(FRAME_HEADER_BYTES);

/** What became of a chunk. Every outcome but "sealed" has changed nothing. */
export type SealOutcome =
  | "sealed"
  | "already sealed"
  | "missing"
  | "too small"
  | "too large"
  | "not smaller"
  | "changed"
  | "not one instant"
  | "incomplete";

/** Starts the codec and the kernel, for the first chunk that is sealed. */
export type SealTools = () => { codec: BlockCodec; kernel: Kernel };

interface SeenChunk {
  header: ChunkHeader;
  length: number;
}

/** The names of a sealed chunk. Its birth and that of the next chunk fix them, so they never change. */
interface KnownNames {
  birth: number;
  nextBirth: number;
  lastStampMs: number;
  names: SealedNames;
}

/** A chunk before the one that is sealed, with its bytes or its names. */
export type EarlierChunk = { header: ChunkHeader } & ({ bytes: Uint8Array } | { names: SealedNames });

interface FoundChunks {
  raw: RawChunk;
  /** Oldest first. */
  earlier: readonly EarlierChunk[];
  /** Birth of the chunk after `raw`. */
  nextBirth: number;
}

/**
 * Seals closed chunks of one journal: replaces each by the same events in fewer bytes. Everything that decides about the content
 * is read at one instant. That is the chunk, the birth of the next one, and the chunks before it. The birth was drawn when the chunk
 * was closed, so it proves that no byte of the chunk is another one. The chunks before may have frames that the chunk has copies of.
 */
export class ChunkSealer {
  readonly #store: Store;
  readonly #key: string;
  readonly #tools: SealTools;
  /** How much of a chunk is sealed in one turn of the event loop: slices of 0.1 to 0.3 ms. */
  slicesPerTurn = 1;
  /** The names of the chunks that this process sealed last, by number. */
  readonly #known = new Map<number, KnownNames>();

  constructor(store: Store, key: string, tools: SealTools) {
    this.#store = store;
    this.#key = key;
    this.#tools = tools;
  }

  /**
   * Seals the closed chunk `number`. `before` is awaited between the read and the write. Throws an error of the store, or
   * CORRUPT for damaged chunks.
   */
  async seal(number: number, before?: () => Promise<void>): Promise<SealOutcome> {
    const seen = await this.#headersUpTo(number);
    if (typeof seen === "string") return seen;
    const found = await this.#atOneInstant(seen);
    if (typeof found === "string") return found;
    const { raw, earlier, nextBirth } = found;
    const events = await this.#inSlices(eventsOf(raw, await this.namesIn(earlier)));
    const { codec, kernel } = this.#tools();
    const bytes = await this.#inSlices(encodeSealed(codec, kernel, events));
    // No event is lost to a fault of a codec: the sealed form must give back every bit.
    if (!(await this.#inSlices(isExact(codec, bytes, raw, events.counted))))
      throw new Error(`its chunk ${number} would have other events in its sealed form`);
    await before?.();
    const status = await this.#store.run(seal, this.#key, { bytes, length: raw.bytes.length, nextBirth });
    if (status === SEALED.done) this.#remember(raw.header, nextBirth, SealedChunk.parse(bytes).names);
    if (status === SEALED.done) return "sealed";
    if (status === SEALED.already) return "already sealed";
    if (status === SEALED.notSmaller) return "not smaller";
    return status === SEALED.missing ? "missing" : "changed";
  }

  /**
   * The oldest chunk that other processes left raw. Looks from `newest` back at `most` chunks, and ends at a sealed or missing one.
   * Usually the newest is sealed, so it is asked alone.
   */
  async firstRaw(newest: number, most: number): Promise<number> {
    let first = newest + 1;
    for (let [back, count] = [0, 1]; back < most; back += count, count = HEADERS_PER_TURN) {
      const numbers = Array.from({ length: Math.min(count, most - back) }, (_, i) => newest - back - i);
      for (const [i, { header, length }] of (await Promise.all(numbers.map((each) => this.#header(each)))).entries()) {
        if (header?.format !== constants.format) return first;
        if (length >= constants.minSealedBytes) first = numbers[i]!;
      }
    }
    return first;
  }

  #header(number: number): Promise<JournalAnswer> {
    return this.#store.run(read, closedKey(this.#key, number), "header");
  }

  /** The names of all frames of these chunks. */
  async namesIn(chunks: readonly EarlierChunk[]): Promise<Dedupe> {
    const dedupe = new Dedupe();
    for (const chunk of chunks) {
      const { format, lastStampMs } = chunk.header;
      if ("names" in chunk) dedupe.addSealed(chunk.names, lastStampMs);
      else if (format === constants.format) await this.#inSlices(admitFrames(chunk, dedupe));
      else dedupe.addSealed(SealedChunk.parse(chunk.bytes).names, lastStampMs);
    }
    return dedupe;
  }

  /** Runs work in slices, with turns of the event loop in between. */
  async #inSlices<T>(work: Generator<void, T>): Promise<T> {
    for (let slice = 1; ; slice++) {
      const { done, value } = work.next();
      if (done) return value;
      if (slice % this.slicesPerTurn === 0) await laterTurn();
    }
  }

  #remember({ number, birth, lastStampMs }: ChunkHeader, nextBirth: number, names: SealedNames): void {
    this.#known.set(number, { birth, nextBirth, lastStampMs, names });
    for (const [each, { lastStampMs: itsMs }] of this.#known)
      if (lastStampMs - itsMs > 2 * constants.dedupeMs || this.#known.size > MAX_CHUNKS_BEFORE)
        this.#known.delete(each);
  }

  /**
   * The chunks before `raw` whose frames it may have copies of, oldest first. `before`: newest first. "incomplete" if one is missing.
   * A failover may bring a deleted chunk back, and its events would then count twice.
   */
  earlierThan(raw: RawChunk, before: readonly (EarlierChunk | undefined)[]): readonly EarlierChunk[] | SealOutcome {
    const earlier: EarlierChunk[] = [];
    for (let after: EarlierChunk = raw; needsNames(raw.header, after.header); after = earlier[0]!) {
      const chunk = before[earlier.length];
      if (!chunk) return "incomplete";
      if (chunk.header.birth !== after.header.birthBefore || !isSound(chunk.header)) return "changed";
      earlier.unshift(chunk);
    }
    return earlier;
  }

  /** The chunk and those before it that it may have copies of, newest first; or why it is not sealed. */
  async #headersUpTo(number: number): Promise<SeenChunk[] | SealOutcome> {
    const { header, length } = await this.#header(number);
    if (!header) return "missing";
    if (header.format !== constants.format) return "already sealed";
    if (length < constants.minSealedBytes) return "too small";
    if (length > MAX_CHUNK_BYTES) return "too large";
    const seen: SeenChunk[] = [{ header, length }];
    for (let last = header; needsNames(header, last); ) {
      if (seen.length > MAX_CHUNKS_BEFORE) return "too large";
      const numbers = Array.from({ length: HEADERS_PER_TURN }, (_, i) => last.number - 1 - i);
      for (const answer of await Promise.all(numbers.map((each) => this.#header(each)))) {
        if (!needsNames(header, last)) break;
        if (!answer.header) return "incomplete";
        last = answer.header;
        seen.push({ header: last, length: answer.length });
      }
    }
    return seen;
  }

  /** The names of a chunk that this process sealed. Its birth and that of the chunk after it must be the same. */
  #namesOf({ number, birth }: ChunkHeader, after: ChunkHeader): SealedNames | undefined {
    const known = this.#known.get(number);
    return known?.birth === birth && known.nextBirth === after.birth ? known.names : undefined;
  }

  async #atOneInstant(seen: readonly SeenChunk[]): Promise<FoundChunks | SealOutcome> {
    const runs: object[] = [];
    const options = { ranIn: (run: object) => void runs.push(run) };
    const ask = (key: string, known: ReadRequest) => this.#store.run(read, key, known, options);
    const { number } = seen[0]!.header;
    const isKnown = (i: number) => i > 0 && this.#namesOf(seen[i]!.header, seen[i - 1]!.header) !== undefined;
    const pages = seen.flatMap(({ length }, i) => pagesOf(closedKey(this.#key, number - i), isKnown(i) ? 0 : length));
    if (seen.reduce((sum, { length }, i) => sum + (isKnown(i) ? 0 : length), 0) > MAX_TURN_BYTES) return "too large";
    const [open, closed, ...answers] = await Promise.all([
      ask(this.#key, "header"),
      ask(closedKey(this.#key, number + 1), "header"),
      ...pages.map(({ key, from }) =>
        ask(key, from === undefined ? "header" : { number: 0, birth: 0, length: from, place: 0, frame: NO_FRAME }),
      ),
    ]);
    if (runs.length !== answers.length + 2 || runs.some((run) => run !== runs[0])) return "not one instant";
    const found = seen.map((_, i) =>
      answers.filter((_answer, j) => pages[j]!.key === closedKey(this.#key, number - i)),
    );
    const raw = wholeOf(found[0]!);
    const before = found.slice(1).map((its, i): EarlierChunk | undefined => {
      const after = found[i]![0]!.header;
      const names = its[0]!.header && after && this.#namesOf(its[0]!.header, after);
      return names ? { header: its[0]!.header!, names } : wholeOf(its);
    });
    const next = closed.header ?? open.header;
    if (!raw || raw.header.format !== constants.format) return "changed";
    if (!next || next.number !== number + 1 || next.birthBefore !== raw.header.birth) return "changed";
    const earlier = this.earlierThan(raw, before);
    return typeof earlier === "string" ? earlier : { raw, earlier, nextBirth: next.birth };
  }
}

/** Whether the chunk `header` may have copies of frames of the chunk before `after`. */
function needsNames(header: ChunkHeader, after: ChunkHeader): boolean {
  // No frame of the chunk before `after` has a stamp later than the creation of `after`.
  return after.birthBefore !== 0 && after.createdMs > header.createdMs - constants.dedupeMs;
}

/** Of a chunk without bytes, whose names are known, only the header is requested. */
function pagesOf(key: string, length: number): { key: string; from: number | undefined }[] {
  if (length === 0) return [{ key, from: undefined }];
  const count = Math.max(1, Math.ceil(length / constants.pageBytes));
  return Array.from({ length: count }, (_, i) => ({ key, from: i * constants.pageBytes }));
}

/** The whole chunk from its pages, which are of one instant. Undefined if it is missing, or longer than they are. */
function wholeOf(pages: readonly JournalAnswer[]): RawChunk | undefined {
  const { header, length } = pages[0]!;
  if (!header) return undefined;
  const bytes = new Uint8Array(pages.reduce((sum, page) => sum + page.bytes.length, 0));
  let at = 0;
  for (const page of pages) {
    bytes.set(page.bytes, at);
    at += page.bytes.length;
  }
  return at === length ? { header, bytes } : undefined;
}

/** Resolves in a later turn of the event loop, after the input and output that are ready. */
function laterTurn(): Promise<void> {
  const hasImmediate = typeof setImmediate === "function" && !isEdgeRuntime;
  return new Promise((resolve) => (hasImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)));
}
