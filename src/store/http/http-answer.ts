import { bytesOfBase64 } from "../../base64.ts";
import { ServerError } from "../delivery/client.ts";
import { ownText } from "../memory/heap-bytes.ts";

/** It is certain that no server has run it, and a later try may do better. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `atob` would take text of another length for base64 without its end. */
function bytesOf(text: string): Uint8Array {
  if (text.length % 4 !== 0) throw new Error("the answer is not base64");
  return bytesOfBase64(text);
}

/**
 * What an HTTP answer says of each of `count` commands: its reply, or the error that it is rejected with. Throws where it
 * says nothing of them, so that they may have been run.
 *
 *   200 ........................ { result } or { error }, in an array where several were asked for
 *   429 ........................ not run; later
 *   401, 403 ................... not run: the token
 *   another of 3xx, 4xx ........ not run; a 400 tells Redis' error (0 is a browser's word for 3xx)
 *   all else (5xx, 408, 425) ... not known
 */
export function repliesOf(status: number, text: string, count: number, isPipeline: boolean): unknown[] {
  if (status !== 200) return new Array(count).fill(refusalOf(status, text));
  const answer = jsonOf(text);
  const elements = isPipeline ? answer : [answer];
  if (!Array.isArray(elements) || elements.length !== count) throw new Error("the answer is not of so many commands");
  return elements.map(replyOf);
}

function refusalOf(status: number, text: string): Error {
  const told = errorOf(text) ?? ownText(text.slice(0, 200));
  if (status === 429) return new NotRun(`the server answered HTTP 429: ${told}`);
  if (status === 401 || status === 403) return new ServerError(`the token was refused: HTTP ${status}: ${told}`);
  const isKnown = status === 0 || (status >= 300 && status < 500 && status !== 408 && status !== 425);
  if (!isKnown) throw new Error(`the server answered HTTP ${status}: ${told}`);
  return new ServerError(status === 400 && told !== "" ? told : `HTTP ${status}: ${told}`);
}

/**
 * Elements of all arrays and objects of one answer: each takes some 50 bytes, and two of its text. A call of 1 MiB has at
 * most 35 000 keys, of which each is answered with at most three elements.
 */
const MAX_ELEMENTS = 500_000;

/** Throws for a text whose value would take much more memory than the text. Strings of answers are base64 and hold none of these. */
function checkElements(text: string): void {
  let count = 0;
  for (const mark of ["[", "{", ","])
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (++count > MAX_ELEMENTS) throw new Error(`the answer has more than ${MAX_ELEMENTS} elements`);
}

/** What JSON.parse says of other texts quotes them. */
function jsonOf(text: string): unknown {
  checkElements(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the answer is no JSON");
  }
}

/** What `{ error }` says. */
function errorOf(text: string): string | undefined {
  try {
    const { error } = jsonOf(text) as { error?: unknown };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

function replyOf(element: unknown): unknown {
  const { error, result } = (element ?? {}) as { error?: unknown; result?: unknown };
  if (typeof error === "string") return new ServerError(error);
  try {
    if (result === undefined) throw new Error("the answer has no result");
    return Array.isArray(result) ? result.map(partOf) : partOf(result);
  } catch (cause) {
    return new Error("the answer cannot be read", { cause });
  }
}

/** Strings are bytes in base64, but for "OK"; what a step refuses is a list of texts. */
function partOf(part: unknown): unknown {
  if (typeof part === "string") return part === "OK" ? new Uint8Array([79, 75]) : bytesOf(part);
  if (!Array.isArray(part)) return part;
  return part.map((each) => {
    const told = partOf(each);
    return told instanceof Uint8Array ? decoder.decode(told) : told;
  });
}
