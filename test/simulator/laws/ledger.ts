import type { SimServer, Step, Version } from "../world/server.ts";
import type { World } from "../world/world.ts";
import { type Chunk, parseChunk, reachMs } from "./journal.ts";
import { judgeSeal, parseEither } from "./seals.ts";
import { eventsOf, type Snapshot } from "./truth.ts";

/** An event that the server has taken, and what became of it since. */
export interface Fate {
  frame: string;
  atMs: number;
  stampMs: number;
  /** The writing step of the server that brought it. */
  step: number;
  /** "lost": in the tail that a failover dropped. "deleted": it was in the journal when that was deleted. */
  state: "present" | "lost" | "deleted";
  /** Of a deleted event: it was acknowledged before. */
  wasAcknowledged?: boolean;
}

/** Watches one series in the server's own bytes, step by step, and remembers every event that ever got in. */
export class Ledger {
  readonly fates = new Map<number, Fate>();
  rotationCount = 0;
  deletionCount = 0;
  sealCount = 0;
  /** The latest time that the server's clock showed in a step. */
  latestMs = Number.NEGATIVE_INFINITY;
  /** Copies that sealing dropped. */
  droppedCopies = 0;
  isAcknowledged: (value: number) => boolean = () => false;
  /** Called for each deletion with the step and the deleted values. */
  onDeleted: (step: Step, values: number[]) => void = () => {};
  readonly #world: World;
  readonly #server: SimServer;
  readonly #key: string;
  readonly #bytesOf: (value: unknown) => Uint8Array;
  readonly #parsed = new WeakMap<Version, Chunk>();
  #chain: readonly Chunk[] | undefined;
  /** The chain holds from then until its first key expires. */
  #builtMs = 0;
  #validUntilMs = 0;
  #openBirth = 0;
  #framesSeen = 0;
  readonly #cutOff: number[] = [];
  /** The closed chunk before each chunk, by its birth, as it was when the server last had both. */
  readonly #before = new Map<number, Chunk>();
  /** Births of closed chunks that were deleted; and of those that were gone while the chunks after them stood. */
  readonly #deletedBirths = new Set<number>();
  readonly #goneBirths = new Set<number>();
  #step = 0;
  /** After how many writes of the server which events were deleted. */
  readonly #deletions: { write: number; values: readonly number[] }[] = [];

  constructor(world: World, server: SimServer, key: string, bytesOf: (value: unknown) => Uint8Array) {
    this.#world = world;
    this.#server = server;
    this.#key = key;
    this.#bytesOf = bytesOf;
    server.watchers.push((step) => this.#watch(step));
  }

  /** The journal as it is: open chunk first, back to where the numbers or the births no longer link. */
  chain(): readonly Chunk[] {
    const nowMs = this.#server.nowMs;
    if (this.#chain && nowMs >= this.#builtMs && nowMs <= this.#validUntilMs) return this.#chain;
    this.#builtMs = nowMs;
    this.#validUntilMs = Number.POSITIVE_INFINITY;
    const chain: Chunk[] = [];
    for (let chunk = this.#chunk(this.#key); chunk; ) {
      chain.push(chunk);
      const before: Chunk | undefined =
        chunk.birthBefore === 0 ? undefined : this.#chunk(`${this.#key}:${chunk.number - 1}`);
      if (before?.birth !== chunk.birthBefore) break;
      this.#before.set(chunk.birth, before);
      chunk = before;
    }
    this.#chain = chain;
    return chain;
  }

  /**
   * A journal with the closed chunks that the server no longer has, as far back as they may hold an event later than
   * `fromMs`: what a copy may hold that was there before they were deleted.
   */
  whole(chain: readonly Chunk[], fromMs: number): readonly Chunk[] {
    const whole = [...chain];
    for (let chunk = chain.at(-1); chunk; ) {
      chunk = this.#before.get(chunk.birth);
      if (chunk && reachMs(chunk) > fromMs) whole.push(chunk);
      else break;
    }
    return whole.length === chain.length ? chain : whole;
  }

  /** Whether a reader can have found this closed chunk gone, and those after it not. */
  wasGone(chunk: Chunk): boolean {
    return this.#goneBirths.has(chunk.birth) || this.#hasExpired(chunk);
  }

  #hasExpired({ lastStampMs, retentionMs, chunkMs }: Chunk): boolean {
    return lastStampMs + retentionMs + chunkMs + 60_000 < this.#server.nowMs;
  }

  /** A deletion ends with the closed chunks; where the open one stands, they are missed. */
  #missGone(): void {
    for (const { birth } of this.whole(this.chain(), Number.NEGATIVE_INFINITY))
      if (this.#deletedBirths.has(birth)) this.#goneBirths.add(birth);
  }

  /**
   * True when the chunk before the oldest one has expired regularly, and could have held an event of a window from
   * `fromMs`, as far as a reader knows.
   */
  hasExpiredBefore(fromMs: number): boolean {
    const oldest = this.chain().at(-1);
    const before = oldest && this.#before.get(oldest.birth);
    if (!before || !this.#hasExpired(before)) return false;
    return oldest.isEventClock ? oldest.latestAtMs >= fromMs - 20_000 : oldest.createdMs + 60_000 > fromMs;
  }

  snapshot(): Snapshot {
    return { nowMs: this.#server.nowMs, step: this.#step, chain: this.chain() };
  }

  /** A failover that loses up to `steps` writing steps; returns how many it lost. */
  failover(steps: number): number {
    this.#chain = undefined;
    const before = new Set(eventsOf(this.chain()).map((event) => event.value));
    const lost = this.#server.failover(steps);
    this.#step++;
    this.#chain = undefined;
    // The deletion is undone: what it deleted is back or lost, as if it had not been.
    while (this.#deletions.length > 0 && this.#deletions.at(-1)!.write > this.#server.writes)
      for (const value of this.#deletions.pop()!.values) before.add(value);
    for (const event of eventsOf(this.chain())) {
      before.delete(event.value);
      this.#present(event.value, event.frame, event.atMs, event.stampMs);
    }
    // Events cut off by a deletion are missed only where a later chunk names its predecessor.
    const namesOlder = (this.chain().at(-1)?.birthBefore ?? 0) !== 0;
    const lostToo = namesOlder ? [] : this.#cutOff.splice(0).filter((value) => !this.#holds(value));
    for (const value of [...before, ...lostToo]) this.fates.get(value)!.state = "lost";
    this.#missGone();
    this.#openBirth = this.chain()[0]?.birth ?? 0;
    this.#framesSeen = this.chain()[0]?.frames.length ?? 0;
    return lost;
  }

  #watch(step: Step): void {
    this.latestMs = Math.max(this.latestMs, step.nowMs);
    if (step.written.length === 0) return;
    this.#step++;
    const chainBefore = this.#chain;
    this.#chain = undefined;
    if (step.operation === "journal/seal") {
      this.#sealed(step);
      return;
    }
    if (!step.written.includes(this.#key)) {
      for (const chunk of this.#before.values())
        if (step.written.includes(`${this.#key}:${chunk.number}`)) this.#deletedBirths.add(chunk.birth);
      this.#missGone();
      this.#shortened(step, chainBefore ?? []);
      return;
    }
    this.#noteRetention(step.previous!.get(this.#key));
    const open = this.#chunk(this.#key);
    if (open === undefined) {
      this.#deleted(step, chainBefore ?? []);
      return;
    }
    if (this.#openBirth !== 0 && open.birthBefore === this.#openBirth) this.rotationCount++;
    if (this.#openBirth !== open.birth) this.#framesSeen = 0;
    this.#openBirth = open.birth;
    const fresh = open.frames.slice(this.#framesSeen);
    this.#framesSeen = open.frames.length;
    for (const frame of fresh)
      for (const { value, atMs } of frame.events) {
        const known = this.fates.get(value);
        if (known && known.frame !== frame.id) this.#world.violation(`event ${value} is in two different frames`);
        // Of a call that was not answered yet, it counts after the deletion.
        if (known?.state === "deleted" && known.wasAcknowledged)
          this.#world.violation(`event ${value} was acknowledged and deleted, and is back`);
        if (known?.state !== "present") this.#present(value, frame.id, atMs, frame.stampMs);
      }
    this.chain();
  }

  /** A sealed chunk has the header and the events of the raw one, without copies; nothing else changes. */
  #sealed({ written, previous }: Step): void {
    this.#step--;
    for (const key of written) {
      const version = this.#server.version(key);
      const before = previous!.get(key);
      if (!version || !before) {
        this.#world.violation(`a seal ${version ? "makes" : "removes"} ${key}`);
        continue;
      }
      if (version.expireAtMs !== before.expireAtMs)
        this.#world.violation(`a seal moves the expiry of ${key} from ${before.expireAtMs} to ${version.expireAtMs}`);
      const raw = this.#parsed.get(before) ?? parseChunk(this.#bytesOf(before.value));
      const { chunk, faults, dropped } = judgeSeal(key, raw, this.#bytesOf(version.value), this.#idsBefore(raw));
      for (const fault of faults) this.#world.violation(fault);
      this.sealCount++;
      this.droppedCopies += dropped;
      this.#parsed.set(version, chunk);
    }
    this.chain();
  }

  /** Since when the journal is complete, by the retentions that it had, whatever its header says. */
  #noteRetention(before: Version | undefined): void {
    const version = this.#server.version(this.#key);
    const open = this.#chunk(this.#key);
    if (!version || !open) return;
    const last = before && this.#parsed.get(before);
    const isNext = open.birthBefore !== 0 && open.birthBefore === last?.birth;
    let completeSinceMs = Number.NEGATIVE_INFINITY;
    if (last && (isNext || open.birth === last.birth)) {
      completeSinceMs = last.completeSinceMs;
      if (open.retentionMs > last.retentionMs)
        completeSinceMs = Math.max(completeSinceMs, open.lastStampMs - last.retentionMs);
    }
    this.#parsed.set(version, { ...open, completeSinceMs });
    this.#chain = undefined;
  }

  #idsBefore(chunk: Chunk): Set<string> {
    const ids = new Set<string>();
    for (let one: Chunk | undefined = chunk; one && one.birthBefore !== 0; ) {
      const before: Chunk | undefined = this.#chunk(`${this.#key}:${one.number - 1}`);
      one = before?.birth === one.birthBefore ? before : this.#before.get(one.birth);
      for (const { id } of one?.frames ?? []) ids.add(id);
    }
    return ids;
  }

  #holds(value: number): boolean {
    return eventsOf(this.chain()).some((event) => event.value === value);
  }

  #present(value: number, frame: string, atMs: number, stampMs: number): void {
    this.fates.set(value, { frame, atMs, stampMs, step: this.#step, state: "present" });
  }

  /** A closed chunk went: left over by a deletion, or brought back by a failover after one. It is missed until the rest goes. */
  #shortened(step: Step, chainBefore: readonly Chunk[]): void {
    const left = new Set(this.chain());
    const gone = eventsOf(chainBefore.filter((chunk) => !left.has(chunk))).map((event) => event.value);
    this.#cutOff.push(...gone);
    if (gone.length > 0) this.onDeleted(step, gone);
  }

  #deleted(step: Step, chain: readonly Chunk[]): void {
    this.deletionCount++;
    this.#openBirth = 0;
    const values = eventsOf(chain).map((event) => event.value);
    const deleted = [...this.#cutOff.splice(0), ...values];
    this.#deletions.push({ write: this.#server.writes, values: deleted });
    for (const value of deleted) {
      const fate = this.fates.get(value)!;
      fate.state = "deleted";
      fate.wasAcknowledged = this.isAcknowledged(value);
    }
    this.onDeleted(step, values);
  }

  #chunk(key: string): Chunk | undefined {
    const version = this.#server.version(key);
    if (!version) return undefined;
    this.#validUntilMs = Math.min(this.#validUntilMs, version.expireAtMs);
    let chunk = this.#parsed.get(version);
    if (!chunk) {
      chunk = parseEither(key, this.#bytesOf(version.value));
      this.#parsed.set(version, chunk);
    }
    // A delete leaves a guard, and no journal.
    if (chunk.birthBefore === 0 && chunk.frames.length === 0) return undefined;
    return chunk;
  }
}
