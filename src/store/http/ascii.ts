import { ascii } from "../../generated/scripts/store.ts";
import type { Argument } from "../contract.ts";

/** "0", the first of the 64 characters. */
const FIRST = 48;
const LONE_SURROGATES = /\p{Surrogate}/gu;
const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * The script for arguments of `asciiArguments`. With `isLocking` it has the flag by which Upstash locks the call's keys instead of the whole database, and reads no undeclared keys
 * (lua/journal/closed-chunks.lua).
 */
export function asciiText(text: string, isLocking = false): string {
  const second = text.indexOf("\n");
  const first = text.slice(0, second);
  const flag = isLocking ? `${first.includes("=") ? "," : " flags="}allow-key-locking\nARGV[0]=1` : "";
  return `${first}${flag}\n${ascii}${text.slice(second + 1)}`;
}

/** Encodes the arguments as texts, followed by their types. The twin of lua/store/ascii.lua. */
export function asciiArguments(args: readonly Argument[]): string[] {
  const texts: string[] = new Array(args.length + 1);
  let marks = "";
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    const isBytes = typeof arg === "object";
    texts[i] = isBytes ? textOfBytes(arg) : wellFormed(String(arg));
    marks += isBytes ? "b" : "t";
  }
  texts[args.length] = marks;
  return texts;
}

/** Replaces lone surrogates by U+FFFD, as every encoding to UTF-8 does. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, "\ufffd");
}

/**
 * Encodes six bytes as eight characters: the low six bits of each byte, then twice the high two bits of three bytes.
 */
export function textOfBytes(bytes: Uint8Array): string {
  const rest = bytes.length % 6;
  const whole = bytes.length - rest;
  const characters = new Uint8Array((whole / 6) * 8 + rest + Math.ceil(rest / 3));
  let to = 0;
  for (let at = 0; at < whole; at += 6) {
    const [a, b, c] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!];
    const [d, e, f] = [bytes[at + 3]!, bytes[at + 4]!, bytes[at + 5]!];
    characters[to] = FIRST + (a & 63);
    characters[to + 1] = FIRST + (b & 63);
    characters[to + 2] = FIRST + (c & 63);
    characters[to + 3] = FIRST + (d & 63);
    characters[to + 4] = FIRST + (e & 63);
    characters[to + 5] = FIRST + (f & 63);
    characters[to + 6] = FIRST + (((a >> 6) << 4) | ((b >> 6) << 2) | (c >> 6));
    characters[to + 7] = FIRST + (((d >> 6) << 4) | ((e >> 6) << 2) | (f >> 6));
    to += 8;
  }
  for (let at = whole; at < bytes.length; at++) characters[to++] = FIRST + (bytes[at]! & 63);
  for (let at = whole; at < bytes.length; at += 3) {
    const high = (i: number) => (bytes[at + i] ?? 0) >> 6;
    characters[to++] = FIRST + ((high(0) << 4) | (high(1) << 2) | high(2));
  }
  return decoder.decode(characters);
}
