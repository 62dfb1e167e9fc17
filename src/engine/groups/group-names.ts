import { endsWithRequest } from "../../base/async/of-request.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import * as layout from "../../generated/layouts/groups.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { chunkMsOf } from "../journal/format/chunk.ts";
import { constants } from "../journal/format/constants.ts";
import { NUMBER_MASK } from "../kernel/blocks/pairs.ts";
import { groupsKey, type KnownGroups, NONCE_BYTES } from "./dictionary.ts";
import { GroupTree } from "./labels.ts";
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
  #tree = new GroupTree();
  #values: (readonly string[])[] = [];
  #known = NOTHING;
  /** Of the dictionary. */
  #maxGroups: number;
  #generation = 0;
  #isFullReported = false;
  /** The request under way, or the next one. */
  #running: Promise<void> = Promise.resolve();
  #next: Next | undefined;

  /** `key`: the journal's. */
  constructor(store: Store, key: string, settings: GroupNamesSettings) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#maxGroups = settings.maxGroups;
  }

  /** The number of a group; 0 if there are too many groups. Undefined if this process has to `add` it first. */
  numberOf(values: readonly string[]): number | undefined {
    const found = this.#tree.numberOf(values);
    if (found !== undefined || !this.isFull) return found;
    if (!this.#isFullReported) {
      this.#isFullReported = true;
      this.#settings.onFull(this.#maxGroups);
    }
    return 0;
  }

  /** Whether a group is known to have the number 0. */
  isOther(values: readonly string[]): boolean {
    return this.isFull && this.#tree.numberOf(values) === undefined;
  }

  /**
   * Whether further groups have the number 0. The dictionary says how many it takes, so that a group which one process counts as
   * `_other` gets no number from another.
   */
  get isFull(): boolean {
    return this.#known.length > 0 && this.count >= this.#maxGroups;
  }

  /** The groups of this generation, which become more: their label values by number - 1, and their numbers. */
  get groups(): { values: readonly (readonly string[])[]; tree: GroupTree } {
    return { values: this.#values, tree: this.#tree };
  }

  /** The largest number. */
  get count(): number {
    return this.#values.length;
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
    const { labels, maxGroups, retentionMs, entropy } = this.#settings;
    const lifetimeMs = retentionMs + chunkMsOf(retentionMs) + 2 * constants.expirySlackMs;
    for (;;) {
      const known = this.#known;
      const added = this.#encodeNew(groups);
      const begins = isAdd && known.length === 0;
      if (added.length === 0 && !isRead && !begins) return;
      const header = added.length > 0 || begins ? encodeHeader(labels, maxGroups, entropy()) : added;
      // The store adds no group for a process that knows none. It only begins a dictionary.
      const reply = await this.#store.run(intern, this.#key, {
        header,
        known,
        groups: begins ? header : added,
        lifetimeMs,
      });
      // In a Worker another request may have been answered first.
      if (known !== this.#known) continue;
      try {
        this.#take(reply);
      } catch (error) {
        throw asCorrupt(groupsKey(this.#key), error);
      }
      isRead = this.#known.length < reply.length;
    }
  }

  /** The next groups without a number, each once. Nonces are fresh, because the same groups may come after others this time. */
  #encodeNew(groups: readonly (readonly string[])[]): Uint8Array {
    const parts: Uint8Array[] = [];
    const seen = new Set<string>();
    let sizeBytes = 0;
    for (const values of groups) {
      if (sizeBytes >= REQUEST_BYTES || this.count + seen.size >= this.#maxGroups) break;
      if (this.numberOf(values) !== undefined) continue;
      const name = JSON.stringify(values);
      if (seen.has(name)) continue;
      seen.add(name);
      const part = encodeTexts(values, 0, this.#settings.entropy());
      parts.push(part);
      sizeBytes += part.length;
    }
    return joined(parts, sizeBytes);
  }

  /** Continues the copy, or begins it again if the known part is gone. */
  #take({ length, from, bytes }: Interned): void {
    if (from !== this.#known.length) {
      this.#tree = new GroupTree();
      this.#values = [];
      this.#known = NOTHING;
      this.#maxGroups = this.#settings.maxGroups;
      this.#generation++;
    }
    if (length === 0) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    const readTexts = (count: number): string[] | undefined => {
      const texts: string[] = [];
      while (texts.length < count) {
        const from = at + 1;
        const end = from + bytes[at]!;
        // A page ends anywhere.
        if (!(end <= bytes.length - NONCE_BYTES)) return undefined;
        texts.push(decoder.decode(bytes.subarray(from, end)));
        at = end;
      }
      at += NONCE_BYTES;
      return texts;
    };
    const learn = (firstChunk: number) => {
      this.#known = { length: from + at, nonce: view.getUint32(at - NONCE_BYTES, true), firstChunk };
    };
    if (from === 0) {
      const labelCount = view.getUint8(layout.GROUPS_LABEL_COUNT_AT);
      const isForeign = view.getUint8(layout.GROUPS_FORMAT_AT) !== layout.GROUPS_FORMAT;
      const maxGroups = view.getUint32(layout.GROUPS_MAX_GROUPS_AT, true);
      const firstChunk = view.getFloat64(layout.GROUPS_FIRST_CHUNK_AT, true);
      at = layout.GROUPS_BYTES;
      const labels = readTexts(labelCount);
      if (isForeign || !labels || maxGroups === 0 || maxGroups > NUMBER_MASK) throw damaged();
      if (JSON.stringify(labels) !== JSON.stringify(this.#settings.labels))
        throw otherLabels(labels, this.#settings.labels);
      learn(firstChunk);
      this.#maxGroups = maxGroups;
    }
    const firstAt = at;
    for (let values = readTexts(this.#settings.labels.length); values; ) {
      this.#values.push(values);
      this.#tree.set(values, this.count);
      learn(this.#known.firstChunk);
      values = readTexts(this.#settings.labels.length);
    }
    const isWhole = from + bytes.length === length;
    if (this.#known.length < length && (isWhole || this.#known.length === from + firstAt)) throw damaged();
  }
}

function encodeHeader(labels: readonly string[], maxGroups: number, birth: number): Uint8Array {
  const bytes = encodeTexts(labels, layout.GROUPS_BYTES, birth);
  new DataView(bytes.buffer).setUint32(layout.GROUPS_MAX_GROUPS_AT, maxGroups, true);
  bytes[layout.GROUPS_FORMAT_AT] = layout.GROUPS_FORMAT;
  bytes[layout.GROUPS_LABEL_COUNT_AT] = labels.length;
  return bytes;
}

/** Texts with their lengths after `before` bytes of zeros, then a nonce. */
function encodeTexts(texts: readonly string[], before: number, nonce: number): Uint8Array {
  const parts = texts.map((text) => encoder.encode(text));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 1 + part.length, before + NONCE_BYTES));
  let at = before;
  for (const part of parts) {
    bytes[at] = part.length;
    bytes.set(part, at + 1);
    at += 1 + part.length;
  }
  new DataView(bytes.buffer).setUint32(at, nonce, true);
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
  return new OrielError("MISMATCH", `the groups are stored with the labels ${theirs}; they were opened with ${ours}`);
}
