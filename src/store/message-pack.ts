const STRING_8 = 0xd9;
const STRING_16 = 0xda;
const STRING_32 = 0xdb;
const ARRAY_16 = 0xdc;
const ARRAY_32 = 0xdd;
export const ARRAY_HEAD_BYTES = 5;
const STRING_HEAD_BYTES = 5;
/** Longest string in bytes whose length fits into a head of one byte. */
const MAX_SHORT_BYTES = 31;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

/** Packs an array of strings, of text or bytes, as MessagePack. Source: the MessagePack specification. */
export function packStrings(strings: readonly (string | Uint8Array)[]): Uint8Array {
  let maxBytes = ARRAY_HEAD_BYTES;
  for (const each of strings) maxBytes += STRING_HEAD_BYTES + (typeof each === "string" ? 3 : 1) * each.length;
  const bytes = new Uint8Array(maxBytes);
  writeArrayHead(bytes, strings.length);
  let at = ARRAY_HEAD_BYTES;
  for (const each of strings) at = typeof each === "string" ? writeText(bytes, at, each) : writeBytes(bytes, at, each);
  return bytes.slice(0, at);
}

function writeText(bytes: Uint8Array, at: number, text: string): number {
  if (text.length <= MAX_SHORT_BYTES) {
    // Faster than a call of the encoder for a short string.
    let i = 0;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) break;
      bytes[at + 1 + i] = code;
    }
    if (i === text.length) return writeStringHead(bytes, at, i) + i;
  }
  return writeBytes(bytes, at, encoder.encode(text));
}

function writeBytes(bytes: Uint8Array, at: number, content: Uint8Array): number {
  const from = writeStringHead(bytes, at, content.length);
  bytes.set(content, from);
  return from + content.length;
}

export function writeArrayHead(bytes: Uint8Array, length: number): void {
  bytes[0] = ARRAY_32;
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(1, length);
}

/** Writes the head of a string of `length` bytes at `at`. Returns the offset after it. */
export function writeStringHead(bytes: Uint8Array, at: number, length: number): number {
  if (length < 32) {
    bytes[at] = 0xa0 | length;
    return at + 1;
  }
  const [kind, width] = length < 256 ? [STRING_8, 1] : length < 65_536 ? [STRING_16, 2] : [STRING_32, 4];
  bytes[at] = kind;
  for (let i = width; i > 0; i--) bytes[at + 1 + width - i] = length >>> (8 * (i - 1));
  return at + 1 + width;
}

export function unpackStrings(bytes: Uint8Array): string[] {
  return readStrings(bytes).map((each) => decoder.decode(each));
}

/**
 * Returns the strings of the array that begins at `from`, as views. Throws RangeError if the array is incomplete. A
 * length is checked before memory is allocated for it, because a server may send any number.
 */
export function readStrings(bytes: Uint8Array, from = 0): Uint8Array[] {
  let at = from;
  const number = (width: number) => {
    let value = 0;
    for (const end = at + width; at < end; at++) value = value * 256 + (bytes[at] ?? 0);
    return value;
  };
  const arrayHead = bytes[at++] ?? 0;
  const arrayWidth = arrayHead === ARRAY_16 ? 2 : arrayHead === ARRAY_32 ? 4 : 0;
  if (arrayWidth === 0 && (arrayHead & 0xf0) !== 0x90) throw new RangeError("an array was expected");
  const length = arrayWidth > 0 ? number(arrayWidth) : arrayHead & 0x0f;
  const leftBytes = bytes.length - at;
  if (length > leftBytes) throw new RangeError(`an array of ${length} strings does not fit into ${leftBytes} bytes`);
  const strings = new Array<Uint8Array>(length);
  for (let i = 0; i < length; i++) {
    const head = bytes[at++] ?? 0;
    const width = head === STRING_8 ? 1 : head === STRING_16 ? 2 : head === STRING_32 ? 4 : 0;
    if (width === 0 && (head & 0xe0) !== 0xa0) throw new RangeError("a string was expected");
    const end = (width > 0 ? number(width) : head & 0x1f) + at;
    if (end > bytes.length) throw new RangeError(`a string ends at ${end} of ${bytes.length} bytes`);
    strings[i] = bytes.subarray(at, end);
    at = end;
  }
  return strings;
}
