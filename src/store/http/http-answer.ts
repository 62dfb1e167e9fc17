import { bytesOfBase64 } from "../../base/base64.ts";
import { ServerError } from "../delivery/client.ts";
import { isOutOfQuota } from "../health/reason.ts";
import { ownText } from "../memory/heap-bytes.ts";

/** The command was certainly not run, and a later attempt may succeed. */
export class NotRun extends Error {
  override readonly name = "NotRun";
  /** When the server wishes to be asked again, if it says so. */
  retryAfterMs: number | undefined;
}

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

/** Throws for text of another length, which `atob` would accept as base64 without padding. */
function bytesOf(text: string): Uint8Array {
  if (text.length % 4 !== 0) throw new Error("the answer is not base64");
  return bytesOfBase64(text);
}

/**
 * Returns the reply or the error of each of `count` commands in an HTTP answer. Throws if it is unknown
 * whether they were run.
 *
 *   200                     │ { result } or { error }, in an array for several commands. One { error } of a quota is for all
 *   429                     │ not run; later
 *   401, 403                │ not run: the token, unless the text says that a quota is used up
 *   another 3xx or 4xx      │ not run; a 400 has Redis' error (browsers report 3xx as 0)
 *   others (5xx, 408, 425)  │ unknown
 */
export function repliesOf(status: number, text: string, count: number, isPipeline: boolean): unknown[] {
  if (status === 200) {
    const answer = jsonOf(text);
    const elements = isPipeline ? answer : [answer];
    if (Array.isArray(elements) && elements.length === count) return elements.map(replyOf);
  }
  return new Array(count).fill(refusalOf(status, text));
}

function refusalOf(status: number, text: string): Error {
  const said = errorOf(text);
  const reason = said ?? ownText(text.slice(0, 200));
  if (status === 429) return new NotRun(`the server answered HTTP 429: ${reason}`);
  if ((status === 401 || status === 403) && !isOutOfQuota(new Error(reason)))
    return new ServerError(`the token was refused: HTTP ${status}: ${reason}`);
  // A provider that takes no more calls may say so once for a whole pipeline, with the status 200.
  const isSpent = status === 200 && isOutOfQuota(new Error(said));
  const isKnown = isSpent || status === 0 || (status >= 300 && status < 500 && status !== 408 && status !== 425);
  if (!isKnown) throw new Error(`the server answered HTTP ${status}: ${reason}`);
  return new ServerError((isSpent || status === 400) && reason !== "" ? reason : `HTTP ${status}: ${reason}`);
}

/**
 * Largest number of elements in all arrays and objects of one answer. Each takes about 50 bytes, and two bytes of text.
 * A call of 1 MiB has at most 35 000 keys, each with at most three elements in the answer.
 */
const MAX_ELEMENTS = 500_000;

/**
 * Throws for a text whose value would take much more memory. Strings of answers are base64, without these characters.
 */
function checkElements(text: string): void {
  let count = 0;
  for (const mark of ["[", "{", ","])
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (++count > MAX_ELEMENTS) throw new Error(`the answer has more than ${MAX_ELEMENTS} elements`);
}

/** Throws its own error, because an error of JSON.parse quotes the text. */
function jsonOf(text: string): unknown {
  checkElements(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the answer is not JSON");
  }
}

/** The text of `{ error }`. */
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

/** Decodes strings from base64, except "OK". The refusal of a step is a list of texts. */
function partOf(part: unknown): unknown {
  if (typeof part === "string") return part === "OK" ? new Uint8Array([79, 75]) : bytesOf(part);
  if (!Array.isArray(part)) return part;
  return part.map((each) => {
    const value = partOf(each);
    return value instanceof Uint8Array ? decoder.decode(value) : value;
  });
}
