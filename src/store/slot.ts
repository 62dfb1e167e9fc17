const SLOTS = 16_384;

/** CRC-16/XMODEM (polynomial 0x1021, start 0), one table entry per byte. */
const TABLE = /* @__PURE__ */ Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The slot of a key in a Redis Cluster. It hashes the text in the first braces, or the whole key if there is none. */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashed)) crc = ((crc << 8) ^ TABLE[(crc >> 8) ^ byte]!) & 0xffff;
  return crc % SLOTS;
}
