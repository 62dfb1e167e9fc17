import type { Keyspace } from "../../../store/contract.ts";
import { SLOT_BYTES, textBytes } from "../../../store/memory/heap-bytes.ts";
import { refusal } from "../../../store/refusal.ts";
import { extendsLayout } from "../format/layout.ts";

const FIELD_BYTES = SLOT_BYTES;
const SHARD_BYTES = 300;

/** A shard in a memory store. It has the same fields as in Redis; lua/counter/shard.lua defines them. */
export class Shard {
  readonly fields = new Map<string, string>();
  sizeBytes = SHARD_BYTES;

  /** The current generation, the last acknowledged one, and the base that is added to both for the ledger's numbers. */
  get numbers(): { current: number; acknowledged: number; base: number } {
    return { current: this.number("@cur", 1), acknowledged: this.number("@ack", 0), base: this.number("@base", 0) };
  }

  get(field: string): string | undefined {
    return this.fields.get(field);
  }
  /** Batches that were sent again: the field of each, its generation, and where it was acknowledged before. */
  get again(): { name: string; generation: number; where: string }[] {
    const names = (this.get("@again") ?? "").split(" ").slice(0, -1);
    return names.map((name) => ({ name, generation: Number(/^r(\d+)/.exec(name)?.[1]), where: name.split("|")[1]! }));
  }
  setAgain(names: readonly string[]): void {
    if (names.length > 0) this.set("@again", names.map((name) => `${name} `).join(""));
    else this.delete("@again");
  }
  number(field: string, absent: number): number {
    return Number(this.fields.get(field) ?? absent);
  }
  set(field: string, value: string): void {
    this.delete(field);
    this.sizeBytes += bytesOf(field, value);
    this.fields.set(field, value);
  }
  add(field: string, count: bigint): void {
    this.set(field, `${BigInt(this.fields.get(field) ?? 0) + count}`);
  }
  delete(field: string): boolean {
    const value = this.fields.get(field);
    if (value === undefined) return false;
    this.sizeBytes -= bytesOf(field, value);
    return this.fields.delete(field);
  }
}

function bytesOf(field: string, value: string): number {
  return FIELD_BYTES + textBytes(field) + textBytes(value);
}

/** The stored shard for reading, or an empty one. Throws MISMATCH as `agree` does. */
export function shardAt(keys: Keyspace, key: string, layout: string, mayBeOlder = false): Shard {
  const shard = (keys.get(key) as Shard | undefined) ?? new Shard();
  agree(shard.get("@layout"), layout, mayBeOlder);
  return shard;
}

/**
 * Throws MISMATCH unless `layout` equals the counter's layout `own` or extends it. `mayBeOlder` also accepts an older
 * one.
 */
export function agree(own: string | undefined, layout: string, mayBeOlder: boolean): void {
  if (own === undefined || own === layout || extendsLayout(layout, own)) return;
  if (mayBeOlder && extendsLayout(own, layout)) return;
  throw refusal(
    "MISMATCH",
    `the counter's layout (format|shards|finest bucket|time zone|dimensions) is ${own}, not ${layout}: use that layout, or another name`,
  );
}

/** Changes a shard that grows by up to `growthBytes`. Throws OVERLOADED before any change. */
export function change(keys: Keyspace, key: string, shard: Shard, growthBytes: number, changes: () => void): void {
  keys.set(key, shard, shard.sizeBytes + growthBytes, Number.POSITIVE_INFINITY);
  changes();
  // The final size is within the reserved one, so this is not refused.
  keys.set(key, shard, shard.sizeBytes, Number.POSITIVE_INFINITY);
}
