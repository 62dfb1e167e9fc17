import type { BlockCodec } from "../../kernel/blocks/contract.ts";
import type { Kernel } from "../../kernel/contract.ts";
import type { Store } from "../../store/contract.ts";
import { FRAME_HEADER_BYTES, type JournalAnswer } from "../format/answer.ts";
import { type ChunkHeader, isSound } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";
import { Dedupe } from "../format/dedupe.ts";
import { type ReadRequest, read } from "../steps/read.ts";
import { closedKey } from "../steps/rotate.ts";
import { type ChunkEvents, encodeSealed } from "./encode-chunk.ts";
import { admitFrames, eventsOf, type RawChunk } from "./raw-chunk.ts";
import { SealedChunk } from "./sealed-chunk.ts";
import { SEALED, seal } from "./steps/seal.ts";

/** Bounds of a chunk, and of everything that one turn reads. A chunk beyond them is not sealed. */
const MAX_CHUNK_BYTES = 4 << 20;
const MAX_TURN_BYTES = 16 << 20;
const MAX_CHUNKS_BEFORE = 64;
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

interface FoundChunks {
  raw: RawChunk;
  /** Oldest first. */
  earlier: readonly RawChunk[];
  /** Birth of the chunk after `raw`. */
  nextBirth: number;
}

/**
 * Seals closed chunks of one journal: replaces each by the same events in fewer bytes. Everything that decides about the content
 * is read at one instant: the chunk, the next one, whose birth fixes every byte of it, and the chunks before it, which may have frames
 * that the chunk has copies of.
 */
export class ChunkSealer {
  readonly #store: Store;
  readonly #key: string;
  readonly #tools: SealTools;

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
    const events = eventsOf(raw, this.namesIn(earlier));
    const { codec, kernel } = this.#tools();
    const bytes = encodeSealed(codec, kernel, events);
    // No event is lost to a fault of a codec: the sealed form must give back every bit.
    if (!isExact(codec, bytes, events))
      throw new Error(`its chunk ${number} would have other events in its sealed form`);
    await before?.();
    const status = await this.#store.run(seal, this.#key, { bytes, length: raw.bytes.length, nextBirth });
    if (status === SEALED.done) return "sealed";
    if (status === SEALED.already) return "already sealed";
    if (status === SEALED.notSmaller) return "not smaller";
    return status === SEALED.missing ? "missing" : "changed";
  }

  /** The names of all frames of these chunks. */
  namesIn(chunks: readonly RawChunk[]): Dedupe {
    const dedupe = new Dedupe();
    for (const chunk of chunks) {
      if (chunk.header.format === constants.format) admitFrames(chunk, dedupe);
      else dedupe.addSealed(SealedChunk.parse(chunk.bytes).names, chunk.header.lastStampMs);
    }
    return dedupe;
  }

  /**
   * The chunks before `raw` that it can have copies of, oldest first. `before`: newest first. "incomplete" if one is missing: a
   * failover may bring a deleted one back, whose events would then count twice.
   */
  earlierThan(raw: RawChunk, before: readonly (RawChunk | undefined)[]): readonly RawChunk[] | SealOutcome {
    const earlier: RawChunk[] = [];
    for (let after = raw; needsNames(raw.header, after.header); after = earlier[0]!) {
      const chunk = before[earlier.length];
      if (!chunk) return "incomplete";
      if (chunk.header.birth !== after.header.birthBefore || !isSound(chunk.header)) return "changed";
      earlier.unshift(chunk);
    }
    return earlier;
  }

  /** The chunk and those before it that it may have copies of, newest first; or why it is not sealed. */
  async #headersUpTo(number: number): Promise<SeenChunk[] | SealOutcome> {
    const headerOf = (at: number) => this.#store.run(read, closedKey(this.#key, at), "header");
    const { header, length } = await headerOf(number);
    if (!header) return "missing";
    if (header.format !== constants.format) return "already sealed";
    if (length < constants.minSealedBytes) return "too small";
    if (length > MAX_CHUNK_BYTES) return "too large";
    const seen: SeenChunk[] = [{ header, length }];
    for (let last = header; needsNames(header, last); ) {
      if (seen.length > MAX_CHUNKS_BEFORE) return "too large";
      const numbers = Array.from({ length: HEADERS_PER_TURN }, (_, i) => last.number - 1 - i);
      for (const answer of await Promise.all(numbers.map(headerOf))) {
        if (!needsNames(header, last)) break;
        if (!answer.header) return "incomplete";
        last = answer.header;
        seen.push({ header: last, length: answer.length });
      }
    }
    return seen;
  }

  async #atOneInstant(seen: readonly SeenChunk[]): Promise<FoundChunks | SealOutcome> {
    if (seen.reduce((sum, { length }) => sum + length, 0) > MAX_TURN_BYTES) return "too large";
    const runs: object[] = [];
    const options = { ranIn: (run: object) => void runs.push(run) };
    const ask = (key: string, known: ReadRequest) => this.#store.run(read, key, known, options);
    const { number } = seen[0]!.header;
    const pages = seen.flatMap(({ length }, i) => pagesOf(closedKey(this.#key, number - i), length));
    const [open, closed, ...answers] = await Promise.all([
      ask(this.#key, "header"),
      ask(closedKey(this.#key, number + 1), "header"),
      ...pages.map(({ key, from }) => ask(key, { number: 0, birth: 0, length: from, place: 0, frame: NO_FRAME })),
    ]);
    if (runs.length !== answers.length + 2 || runs.some((run) => run !== runs[0])) return "not one instant";
    const [raw, ...before] = seen.map((_, i) =>
      wholeOf(answers.filter((_answer, j) => pages[j]!.key === closedKey(this.#key, number - i))),
    );
    const next = closed.header ?? open.header;
    if (!raw || raw.header.format !== constants.format) return "changed";
    if (!next || next.number !== number + 1 || next.birthBefore !== raw.header.birth) return "changed";
    const earlier = this.earlierThan(raw, before);
    return typeof earlier === "string" ? earlier : { raw, earlier, nextBirth: next.birth };
  }
}

/** Whether the chunk before `after` can have frames of which there are copies in the chunk `header`. */
function needsNames(header: ChunkHeader, after: ChunkHeader): boolean {
  // It has no stamp later than the creation of `after`.
  return after.birthBefore !== 0 && after.createdMs > header.createdMs - constants.dedupeMs;
}

function pagesOf(key: string, length: number): { key: string; from: number }[] {
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

/** Whether the sealed form gives back every event, to the bit. */
function isExact(codec: BlockCodec, bytes: Uint8Array, { times, values }: ChunkEvents): boolean {
  let at = 0;
  let isSame = true;
  SealedChunk.parse(bytes).decode(codec, (itsTimes, itsValues) => {
    const end = at + itsTimes.length;
    isSame &&= haveSameBits(itsTimes, times.subarray(at, end)) && haveSameBits(itsValues, values.subarray(at, end));
    at = end;
  });
  return isSame && at === values.length;
}

function haveSameBits(a: Float32Array | Float64Array, b: Float32Array | Float64Array): boolean {
  if (a.byteLength !== b.byteLength) return false;
  const one = new Uint32Array(a.buffer, a.byteOffset, a.byteLength >> 2);
  const other = new Uint32Array(b.buffer, b.byteOffset, b.byteLength >> 2);
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}
