const STRING_8 = 0xd9;
const STRING_16 = 0xda;
const ARRAY_32 = 0xdd;
export const ARRAY_HEAD_BYTES = 5;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** MessagePack, as far as steps need it: an array of strings. Source: the MessagePack specification. */
export function packStrings(strings: readonly string[]): Uint8Array {
  const parts = strings.map(packString);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, ARRAY_HEAD_BYTES));
  writeArrayHead(bytes, strings.length);
  let at = ARRAY_HEAD_BYTES;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function writeArrayHead(bytes: Uint8Array, length: number): void {
  bytes[0] = ARRAY_32;
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(1, length);
}

export function packString(text: string): Uint8Array {
  const utf8 = encoder.encode(text);
  const { length } = utf8;
  const head =
    length < 32 ? [0xa0 | length] : length < 256 ? [STRING_8, length] : [STRING_16, length >> 8, length & 255];
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  bytes.set(utf8, head.length);
  return bytes;
}

export function unpackStrings(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const strings: string[] = [];
  let at = ARRAY_HEAD_BYTES;
  for (let left = view.getUint32(1); left > 0; left--) {
    const head = view.getUint8(at++);
    let length = head & 0x1f;
    if (head === STRING_8) length = view.getUint8(at++);
    else if (head === STRING_16) {
      length = view.getUint16(at);
      at += 2;
    }
    strings.push(decoder.decode(bytes.subarray(at, at + length)));
    at += length;
  }
  return strings;
}
