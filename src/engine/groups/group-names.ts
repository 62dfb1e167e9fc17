import { endsWithRequest } from "../../base/async/of-request.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import * as layout from "../../generated/layouts/groups.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { chunkMsOf } from "../journal/format/chunk.ts";
import { constants } from "../journal/format/constants.ts";
import { NUMBER_MASK } from "../kernel/blocks/pairs.ts";
import { groupsKey, type KnownGroups, NONCE_BYTES } from "./dictionary.ts";
import { NumberedGroups } from "./numbered-groups.ts";
import { type Interned, intern } from "./steps/intern.ts";

export interface GroupNamesSettings {
  labels: readonly string[];
  /** Of a dictionary that this process begins. Every other one has its own. */
  maxGroups: number;
  retentionMs: number;
  /** Random u32 numbers. */
  entropy: () => number;
  /** Called once, when a group has no number because there are `maxGroups` in the dictionary. */
  onFull: (maxGroups: number) => void;
}

/** The purpose of the next request. */
interface Next {
  groups: string[][];
  isRead: boolean;
  isAdd: boolean;
}

const NOTHING: KnownGroups = { length: 0, nonce: 0, firstChunk: 0 };
const MAX_LABEL_BYTES = 255;
/** Most bytes of new groups in one request. */
const REQUEST_BYTES = 1 << 18;

const encoder = /* @__PURE__ */ new TextEncoder();
/** A mark at the beginning of a label belongs to it. */
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * One process's copy of the numbers of a journal's groups, which all processes share. A number is valid together with `known`, as long
 * as `generation` stays. lua/README.md describes the dictionary.
 */
export class GroupNames {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: GroupNamesSettings;
  #groups: NumberedGroups;
  /** Those that were full when the names began anew. No append names them any more, and all their events expire. */
  #former: NumberedGroups | undefined;
  /** Where they end in the dictionary. */
  #formerEnd = 0;
  /** Chunks of the journal before this number have groups of an earlier dictionary. */
  #formerFirstChunk = 0;
  #known = NOTHING;
  #generation = 0;
  #isFullReported = false;
  /** By the store's monotonic clock. */
  #mayBeginMs = Number.POSITIVE_INFINITY;
  /** The request under way, or the next one. */
  #running: Promise<void> = Promise.resolve();
  #next: Next | undefined;

  /** `key`: the journal's. */
  constructor(store: Store, key: string, settings: GroupNamesSettings) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#groups = new NumberedGroups(0, settings.maxGroups);
  }

  /**
   * The number of a group; that of all others if there are too many. Undefined if this process has to `add` it first.
   */
  numberOf(values: readonly string[]): number | undefined {
    const found = this.#groups.numberOf(values);
    if (found !== undefined || !this.#isFull || this.#mayBegin) return found;
    if (!this.#isFullReported) {
      this.#isFullReported = true;
      this.#settings.onFull(this.#groups.maxGroups);
    }
    return this.#groups.others;
  }

  /** Whether a group has a number. */
  keeps(values: readonly string[]): boolean {
    return this.#groups.numberOf(values) !== undefined;
  }

  /** The groups of this generation, which become more. */
  get groups(): NumberedGroups {
    return this.#groups;
  }

  /** The groups before these, if any. Their events may still be there. */
  get former(): NumberedGroups | undefined {
    return this.#former;
  }

  /** Chunks of the journal before this number have groups of an earlier dictionary. */
  get firstChunk(): number {
    return this.#formerFirstChunk;
  }

  /**
   * Whether further groups have the number of all others. The dictionary says how many it takes, so that a group which one process counts
   * as `_other` gets no number from another.
   */
  get #isFull(): boolean {
    return this.#known.length > 0 && this.#groups.isFull;
  }

  /** Whether full names may begin anew: the numbers of the former groups are free then. */
  get #mayBegin(): boolean {
    if (this.#store.monotonic() < this.#mayBeginMs) return false;
    return this.#known.length - this.#formerEnd <= layout.GROUPS_PAGE_BYTES && this.#nextOthers() !== undefined;
  }

  /** Numbers that no current group has. Undefined if there are too few. */
  #nextOthers(): number | undefined {
    const { others, count } = this.#groups;
    const { maxGroups } = this.#settings;
    if (maxGroups < others) return 0;
    const next = others + count + 1;
    return next + maxGroups <= NUMBER_MASK ? next : undefined;
  }

  /** The part of the dictionary that gave these numbers, which an append names. Its length is 0 without a dictionary. */
  get known(): KnownGroups {
    return this.#known;
  }

  /** It rises when another dictionary takes the place of the one known. The old numbers are void then. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Gives groups their numbers, so that `numberOf` knows each, and begins a dictionary if there is none. A label value has at most 255
   * bytes.
   */
  async add(groups: readonly (readonly string[])[]): Promise<void> {
    await this.#ask(groups.map((values) => values.map(wellFormed)));
  }

  /** Reads what other processes have added before the call. True if the old numbers are void. */
  async refresh(): Promise<boolean> {
    const before = this.#generation;
    await this.#ask(undefined);
    return this.#generation !== before;
  }

  /** One request at a time, for all calls made meanwhile. */
  #ask(groups: string[][] | undefined): Promise<void> {
    // No request of a Worker may wait for that of another.
    if (endsWithRequest) return this.#run({ groups: groups ?? [], isRead: !groups, isAdd: !!groups });
    if (!this.#next) {
      const next: Next = { groups: [], isRead: false, isAdd: false };
      const begin = () => {
        this.#next = undefined;
        return this.#run(next);
      };
      this.#next = next;
      this.#running = this.#running.then(begin, begin);
    }
    for (const values of groups ?? []) this.#next.groups.push(values);
    this.#next.isRead ||= !groups;
    this.#next.isAdd ||= !!groups;
    return this.#running;
  }

  async #run({ groups, isRead, isAdd }: Next): Promise<void> {
    const { retentionMs } = this.#settings;
    const chunkMs = chunkMsOf(retentionMs);
    for (;;) {
      const known = this.#known;
      const { added, isRest } = this.#encodeNew(groups);
      const begins = isAdd && known.length === 0;
      // The store begins the names anew only for a process that knows all of them.
      const beginsAnew = isRest && this.#isFull && this.#mayBegin;
      if (added.length === 0 && !isRead && !begins && !beginsAnew) return;
      const header = added.length > 0 || begins ? this.#encodeHeader() : beginsAnew ? this.#encodeNext() : added;
      // The store adds no group for a process that knows none. It only begins a dictionary.
      const reply = await this.#store.run(intern, this.#key, {
        header,
        known,
        groups: begins ? header : added,
        lifetimeMs: retentionMs + chunkMs + 2 * constants.expirySlackMs,
        spareMs: chunkMs + constants.expirySlackMs,
      });
      // In a Worker another request may have been answered first.
      if (known !== this.#known) continue;
      try {
        this.#take(reply);
      } catch (error) {
        throw asCorrupt(groupsKey(this.#key), error);
      }
      this.#mayBeginMs = this.#store.monotonic() + reply.waitMs;
      isRead = this.#known.length < reply.length;
    }
  }

  /**
   * The next groups without a number, each once, and whether there are more. Nonces are fresh, because the same groups may come after others
   * this time.
   */
  #encodeNew(groups: readonly (readonly string[])[]): { added: Uint8Array; isRest: boolean } {
    const parts: Uint8Array[] = [];
    const seen = new Set<string>();
    let sizeBytes = 0;
    let isRest = false;
    for (const values of groups) {
      if (this.#groups.numberOf(values) !== undefined) continue;
      const name = JSON.stringify(values);
      if (seen.has(name)) continue;
      isRest = sizeBytes >= REQUEST_BYTES || this.#groups.count + seen.size >= this.#groups.maxGroups;
      if (isRest) break;
      seen.add(name);
      const part = encodeTexts(values, 0, this.#settings.entropy());
      parts.push(part);
      sizeBytes += part.length;
    }
    return { added: joined(parts, sizeBytes), isRest };
  }

  /** A dictionary without groups. */
  #encodeHeader(others = 0, formerOthers = 0, former: readonly Uint8Array[] = []): Uint8Array {
    const { labels, maxGroups, entropy } = this.#settings;
    const formerBytes = former.reduce((sum, part) => sum + part.length, 0);
    const names = encodeTexts(labels, layout.GROUPS_BYTES);
    const birth = encodeTexts([], 0, entropy());
    const bytes = joined([names, ...former, birth], names.length + formerBytes + birth.length);
    const view = new DataView(bytes.buffer);
    bytes[layout.GROUPS_FORMAT_AT] = layout.GROUPS_FORMAT;
    bytes[layout.GROUPS_LABEL_COUNT_AT] = labels.length;
    view.setUint32(layout.GROUPS_MAX_GROUPS_AT, maxGroups, true);
    view.setUint32(layout.GROUPS_OTHERS_AT, others, true);
    view.setUint32(layout.GROUPS_FORMER_OTHERS_AT, formerOthers, true);
    view.setUint32(layout.GROUPS_FORMER_BYTES_AT, formerBytes, true);
    return bytes;
  }

  /** The dictionary that takes the place of this one. Its former groups are those of now. */
  #encodeNext(): Uint8Array {
    const { others, values } = this.#groups;
    const former = values.map((each) => encodeTexts(each, 0, this.#settings.entropy()));
    return this.#encodeHeader(this.#nextOthers(), others, former);
  }

  /** Continues the copy, or begins it again if the known part is gone. */
  #take({ length, from, bytes }: Interned): void {
    if (from !== this.#known.length) {
      this.#groups = new NumberedGroups(0, this.#settings.maxGroups);
      this.#former = undefined;
      this.#formerFirstChunk = 0;
      this.#known = NOTHING;
      this.#generation++;
      this.#isFullReported = false;
    }
    if (length === 0) return;
    const page = new Page(bytes);
    const before = this.#known.length;
    const firstChunk = from === 0 ? this.#begin(page) : this.#known.firstChunk;
    const learn = () => {
      this.#known = { length: from + page.at, nonce: page.nonce, firstChunk };
    };
    const { labels } = this.#settings;
    while (from + page.at < this.#formerEnd) {
      const values = page.group(labels.length);
      if (!values) break;
      this.#former!.add(values);
      learn();
    }
    if (from + page.at === this.#formerEnd && page.group(0)) learn();
    if (this.#known.length > this.#formerEnd)
      for (let values = page.group(labels.length); values; values = page.group(labels.length)) {
        this.#groups.add(values);
        learn();
      }
    const isWhole = from + bytes.length === length;
    if (this.#known.length < length && (isWhole || this.#known.length === before)) throw damaged();
  }

  /** Reads the beginning of a dictionary, up to its former groups. Returns the first chunk of its groups. */
  #begin(page: Page): number {
    const { view } = page;
    if (view.byteLength < layout.GROUPS_BYTES) throw damaged();
    const of = (at: number) => view.getUint32(at, true);
    const [others, maxGroups] = [of(layout.GROUPS_OTHERS_AT), of(layout.GROUPS_MAX_GROUPS_AT)];
    const [formerOthers, formerBytes] = [of(layout.GROUPS_FORMER_OTHERS_AT), of(layout.GROUPS_FORMER_BYTES_AT)];
    const isForeign = view.getUint8(layout.GROUPS_FORMAT_AT) !== layout.GROUPS_FORMAT;
    page.at = layout.GROUPS_BYTES;
    const labels = page.texts(view.getUint8(layout.GROUPS_LABEL_COUNT_AT));
    if (isForeign || !labels || maxGroups === 0 || others + maxGroups > NUMBER_MASK) throw damaged();
    if (JSON.stringify(labels) !== JSON.stringify(this.#settings.labels))
      throw otherLabels(labels, this.#settings.labels);
    this.#groups = new NumberedGroups(others, maxGroups);
    this.#former = formerBytes > 0 ? new NumberedGroups(formerOthers, 0) : undefined;
    this.#formerEnd = page.at + formerBytes;
    this.#formerFirstChunk = view.getFloat64(layout.GROUPS_FORMER_FIRST_CHUNK_AT, true);
    return view.getFloat64(layout.GROUPS_FIRST_CHUNK_AT, true);
  }
}

/** A part of a dictionary, which may end anywhere. */
class Page {
  readonly view: DataView;
  readonly #bytes: Uint8Array;
  /** The end of what was read. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** The last four bytes that were read. */
  get nonce(): number {
    return this.view.getUint32(this.at - NONCE_BYTES, true);
  }

  /** Texts and the nonce behind them. Undefined if the page ends before. */
  group(count: number): string[] | undefined {
    const begin = this.at;
    const texts = this.texts(count);
    if (texts && this.at + NONCE_BYTES <= this.#bytes.length) {
      this.at += NONCE_BYTES;
      return texts;
    }
    this.at = begin;
    return undefined;
  }

  texts(count: number): string[] | undefined {
    const texts: string[] = [];
    let { at } = this;
    while (texts.length < count) {
      const from = at + 1;
      const end = from + this.#bytes[at]!;
      if (!(end <= this.#bytes.length)) return undefined;
      texts.push(decoder.decode(this.#bytes.subarray(from, end)));
      at = end;
    }
    this.at = at;
    return texts;
  }
}

/** Texts with their lengths after `before` bytes of zeros, then a nonce if there is one. */
function encodeTexts(texts: readonly string[], before: number, nonce?: number): Uint8Array {
  const parts = texts.map((text) => encoder.encode(text));
  const nonceBytes = nonce === undefined ? 0 : NONCE_BYTES;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 1 + part.length, before + nonceBytes));
  let at = before;
  for (const part of parts) {
    bytes[at] = part.length;
    bytes.set(part, at + 1);
    at += 1 + part.length;
  }
  if (nonce !== undefined) new DataView(bytes.buffer).setUint32(at, nonce, true);
  return bytes;
}

function joined(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const all = new Uint8Array(sizeBytes);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The text that its bytes give back. A half of a surrogate pair has no bytes of its own. Throws ARGUMENT. */
function wellFormed(text: string): string {
  const bytes = encoder.encode(text);
  if (bytes.length > MAX_LABEL_BYTES) throw argumentError("label", text, `at most ${MAX_LABEL_BYTES} bytes of UTF-8`);
  return decoder.decode(bytes);
}

function damaged(): OrielError {
  return new OrielError("CORRUPT", "it holds no names of groups");
}

function otherLabels(stored: readonly string[], asked: readonly string[]): OrielError {
  const [theirs, ours] = [stored, asked].map((labels) => labels.join(", "));
  const order = stored.every((name) => asked.includes(name)) ? ": the order counts" : "";
  return new OrielError(
    "MISMATCH",
    `the groups are stored with the labels ${theirs}; they were opened with ${ours}${order}`,
  );
}
