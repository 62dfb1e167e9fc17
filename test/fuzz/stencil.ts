import type { Redis } from "ioredis";
import type { Store } from "../../src/store/contract.ts";
import type { Random } from "../simulator/world/random.ts";
import { hostileScore, junk, spoiled } from "./hostile.ts";
import { misplaced } from "./misplaced.ts";
import type { Subject } from "./subject.ts";

type Content =
  | { type: "string"; bytes: Buffer }
  | { type: "hash"; fields: [name: Buffer, value: Buffer][] }
  | { type: "zset"; members: [member: Buffer, score: number][] }
  | { type: "stream" };

export interface StencilKey {
  key: string;
  dump: Buffer;
  leftMs: number;
  content: Content;
}

/** The keys that a structure has written, to be copied under other names. */
export interface Stencil {
  subject: Subject;
  name: string;
  keys: StencilKey[];
}

export interface Damage {
  key: string;
  /** The key that received the first key's bytes. */
  otherKey?: string;
  how: string;
  /** For a queue: the single message that is damaged. */
  row: string | undefined;
}

export type Command = (string | Buffer | number)[];

export async function stencilOf(subject: Subject, store: Store, client: Redis, name: string): Promise<Stencil> {
  const driven = subject.open(store, name);
  await driven.seed();
  const found = (await client.keys(`*${name}*`)).sort();
  const keys: StencilKey[] = [];
  for (const key of found) {
    const [dump, leftMs, content] = await Promise.all([
      client.dumpBuffer(key),
      client.pttl(key),
      contentOf(client, key),
    ]);
    // A lock that was just released no longer exists.
    if (dump && content) keys.push({ key, dump, leftMs: Math.max(0, leftMs), content });
  }
  await driven.close();
  return { subject, name, keys };
}

async function contentOf(client: Redis, key: string): Promise<Content | undefined> {
  const type = await client.type(key);
  if (type === "none") return undefined;
  if (type === "string") {
    const bytes = await client.getBuffer(key);
    return bytes ? { type, bytes } : undefined;
  }
  if (type === "hash") {
    const flat = (await client.callBuffer("HGETALL", key)) as Buffer[];
    return { type, fields: pairs(flat) };
  }
  if (type === "stream") return { type };
  if (type !== "zset") throw new Error(`${key} is a ${type}`);
  const flat = (await client.zrangeBuffer(key, 0, "-1", "WITHSCORES")) as Buffer[];
  return { type, members: pairs(flat).map(([member, score]) => [member, Number(score)]) };
}

function pairs(flat: readonly Buffer[]): [Buffer, Buffer][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}

/** The commands that copy them under another name. */
export function restored(stencil: Stencil, store: Store, name: string): Command[] {
  return stencil.keys.map(({ key, dump, leftMs }) => [
    "RESTORE",
    keyIn(stencil, store, name, key),
    leftMs,
    dump,
    "REPLACE",
  ]);
}

function keyIn({ subject, name: own }: Stencil, store: Store, name: string, key: string): string {
  const at = subject.keysOf?.(store, own).indexOf(key) ?? -1;
  return at >= 0 ? subject.keysOf!(store, name)[at]! : key.replaceAll(own, name);
}

/** One attack on a key. `others` are keys of all structures, whose bytes may replace it. */
export function damaged(
  random: Random,
  stencil: Stencil,
  store: Store,
  name: string,
  others: readonly StencilKey[],
  twin: Stencil,
): { damage: Damage; commands: Command[] } {
  const { key: own, content, leftMs } = random.pick(stencil.keys);
  const key = keyIn(stencil, store, name, own);
  const all = (how: string, ...commands: Command[]) => ({ damage: { key, how, row: undefined }, commands });
  const expire: Command[] = leftMs > 0 && random.chance(0.8) ? [["PEXPIRE", key, leftMs]] : [];
  const drawn = random.int(0, 24);
  if (drawn > 19) {
    const moved = misplaced(random, stencil, own, (each) => keyIn(stencil, store, name, each), {
      ...twin,
      keys: twin.keys.map((each) => ({ ...each, key: keyIn(twin, store, stencil.name, each.key) })),
    });
    if (moved) return moved;
  }
  if (drawn === 0) return all("another type", ["DEL", key], ...otherType(random, key), ...expire);
  if (drawn === 1) {
    const other = random.pick(others);
    return all(`the bytes of ${other.key}`, ["RESTORE", key, leftMs, other.dump, "REPLACE"]);
  }
  if (drawn === 2) return all("nothing", ["DEL", key]);
  if (drawn === 3)
    return leftMs > 0 ? all("never expires", ["PERSIST", key]) : all("expires", ["PEXPIRE", key, random.int(1, 5000)]);
  if (content.type === "string") {
    const bytes = spoiled(random, content.bytes);
    return all(`${bytes.length} bytes ${shown(bytes)}`, ["SET", key, bytes], ...expire);
  }
  if (content.type === "hash") return inHash(random, key, content.fields);
  if (content.type === "stream") return inStream(random, key);
  return inSet(random, key, content.members);
}

function inHash(random: Random, key: string, fields: readonly [Buffer, Buffer][]) {
  const [field, value] = random.pick(fields);
  const row = rowOf(field);
  const drawn = random.int(0, 10);
  if (drawn === 0) return { damage: { key, how: `without ${shown(field)}`, row }, commands: [["HDEL", key, field]] };
  if (drawn === 1) {
    const other = random.pick(fields);
    const how = `${shown(field)} is ${shown(other[0])}'s`;
    return { damage: { key, how, row }, commands: [["HSET", key, field, other[1]]] };
  }
  if (drawn === 2) {
    const strange = Buffer.concat([field.subarray(0, random.int(0, 3)), junk(random, random.int(0, 9))]);
    const how = `a field ${shown(strange)} more`;
    const hit = rowOf(strange) ?? "a strange one";
    return { damage: { key, how, row: hit }, commands: [["HSET", key, strange, spoiled(random, value)]] };
  }
  if (drawn === 3) {
    const renamed = spoiled(random, field);
    const how = `${shown(field)} is named ${shown(renamed)}`;
    const commands = [
      ["HDEL", key, field],
      ["HSET", key, renamed, value],
    ];
    return { damage: { key, how, row: row === rowOf(renamed) ? row : undefined }, commands };
  }
  const bytes = spoiled(random, value);
  return { damage: { key, how: `${shown(field)} is ${shown(bytes)}`, row }, commands: [["HSET", key, field, bytes]] };
}

function inSet(random: Random, key: string, members: readonly [Buffer, number][]) {
  const [member, score] = random.pick(members);
  const row = member.subarray(14).toString() || "a strange one";
  const drawn = random.int(0, 3);
  if (drawn === 0) return { damage: { key, how: `without ${shown(member)}`, row }, commands: [["ZREM", key, member]] };
  if (drawn === 1) {
    const strange = spoiled(random, member);
    const commands = [["ZADD", key, random.chance(0.7) ? score : hostileScore(random, score), strange]];
    return { damage: { key, how: `${shown(strange)} more`, row }, commands };
  }
  const hostile = hostileScore(random, score);
  return { damage: { key, how: `${shown(member)} at ${hostile}`, row }, commands: [["ZADD", key, hostile, member]] };
}

/** A foreign entry, or a last id that no clock gives. */
function inStream(random: Random, key: string) {
  const id = random.pick(["*", "18446744073709551615-18446744073709551615", "99999999999999-18446744073709551615"]);
  const command = ["XADD", key, id, junk(random, random.int(0, 9)), junk(random, random.int(0, 9))];
  return { damage: { key, how: `an entry ${id}`, row: undefined }, commands: [command] };
}

/** For a queue's `messages`: the message it belongs to, or none if it belongs to all. */
function rowOf(field: Buffer): string | undefined {
  return /^[:!]/.test(field.toString("latin1")) ? field.subarray(1).toString() || "a strange one" : undefined;
}

function otherType(random: Random, key: string): Command[] {
  return random.pick<Command[]>([
    [["SET", key, "x"]],
    [["RPUSH", key, "x", "y"]],
    [["SADD", key, "x"]],
    [["HSET", key, "x", "y"]],
    [["ZADD", key, 1, "x"]],
    [["XADD", key, "*", "x", "y"]],
    [["SETBIT", key, 8_000_000, 1]],
  ]);
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 60).toString("latin1"));
}
