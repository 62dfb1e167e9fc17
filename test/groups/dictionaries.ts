import type { KnownGroups } from "../../src/engine/groups/dictionary.ts";

const HEADER_BYTES = 44;
const FORMER_BYTES_AT = 16;
export const FIRST_CHUNK_AT = 20;

/** The known part of a process that has read nothing. */
export const NOTHING: KnownGroups = { length: 0, nonce: 0, firstChunk: 0 };

function labelBytes(texts: readonly string[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => [Buffer.of(Buffer.byteLength(text)), Buffer.from(text)]));
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

/** The header of a dictionary, as lua/README.md has it. */
export function encodeHeader(
  labels: readonly string[],
  birth: number,
  former: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const start = Buffer.alloc(HEADER_BYTES);
  start.set([1, labels.length]);
  start.writeUInt32LE(1000, 4);
  start.writeUInt32LE(former.length, FORMER_BYTES_AT);
  return new Uint8Array(Buffer.concat([start, labelBytes(labels), former, u32(birth)]));
}

export function encodeGroups(groups: readonly (readonly string[])[], nonce: () => number): Uint8Array {
  return new Uint8Array(Buffer.concat(groups.flatMap((values) => [labelBytes(values), u32(nonce())])));
}

/** The known part of a process that has read all of a dictionary. */
export function knownOf(dictionary: Uint8Array): KnownGroups {
  const bytes = Buffer.from(dictionary);
  return {
    length: bytes.length,
    nonce: bytes.readUInt32LE(bytes.length - 4),
    firstChunk: bytes.readDoubleLE(FIRST_CHUNK_AT),
  };
}

/** The groups of a dictionary, read without the code under test. */
export function groupsIn(dictionary: Uint8Array): string[][] {
  const bytes = Buffer.from(dictionary);
  let at = HEADER_BYTES;
  const texts = () =>
    Array.from({ length: bytes[1]! }, () => {
      const from = at + 1;
      at = from + bytes[at]!;
      return bytes.toString("utf8", from, at);
    });
  texts();
  at += bytes.readUInt32LE(FORMER_BYTES_AT) + 4;
  const groups: string[][] = [];
  for (; at < bytes.length; at += 4) groups.push(texts());
  return groups;
}
