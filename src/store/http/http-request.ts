import { ServerError, serverError } from "../delivery/client.ts";
import { redacted, withoutSecrets } from "../secrets.ts";
import { NotRun, repliesOf } from "./http-answer.ts";
import type { HttpCommand } from "./http-command.ts";

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The server of the requests. */
export interface HttpServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  readonly fetch: Fetch;
}

/** Error codes of Node and Bun for a connection that was never made. */
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused",
]);

/**
 * Sends commands in one HTTP request, in order, and settles each. Resolves with the answer's Retry-After in ms, or 0.
 * Never rejects. Aborts the request when all commands are abandoned.
 */
export async function sendCommands(server: HttpServer, commands: readonly HttpCommand[]): Promise<number> {
  const open = commands.filter((command) => command.isOpen);
  if (open.length === 0) return 0;
  const giveUp = new AbortController();
  let waiting = open.length;
  const sent = new Set<string>();
  const parts = open.map((command) => {
    command.begin();
    command.whenEnded(() => {
      if (--waiting === 0) giveUp.abort();
    });
    return command.write(sent);
  });
  const isPipeline = parts.length > 1;
  const body = isPipeline ? `[${parts.join(",")}]` : parts[0]!;
  let laterMs = 0;
  try {
    const { fetch } = server;
    const response = await fetch(isPipeline ? `${server.url}/pipeline` : server.url, {
      method: "POST",
      redirect: "manual",
      headers: {
        Authorization: `Bearer ${server.token}`,
        "Content-Type": "application/json",
        "Upstash-Encoding": "base64",
      },
      // When a kept connection breaks, Deno repeats a request with text or bytes by itself, but not one with a Blob. The
      // Blob of jsdom is unknown to the fetch of Node.
      body: "Deno" in globalThis ? new Blob([body]) : body,
      signal: giveUp.signal,
    });
    if (response.status !== 200) laterMs = retryAfterMs(response.headers.get("Retry-After"));
    // The server may repeat the request in its answer.
    const text = redacted(await textWithin(response), response.status === 200 ? [] : [server.token]);
    const replies = repliesOf(response.status, text, open.length, isPipeline);
    for (const reply of replies)
      if (laterMs && (reply instanceof NotRun || reply instanceof ServerError)) reply.retryAfterMs = laterMs;
    for (const [i, command] of open.entries()) command.settle(safe(replies[i], server));
    return laterMs;
  } catch (error) {
    const lost = lostOf(withoutSecrets(error, [server.token]));
    if (laterMs) Object.assign(lost, { retryAfterMs: laterMs });
    for (const command of open) command.settle(lost);
    return laterMs;
  }
}

function safe(reply: unknown, { token }: HttpServer): unknown {
  return reply instanceof ServerError ? serverError(reply, [token]) : reply;
}

function lostOf(error: unknown): Error {
  const { code, cause } = (error ?? {}) as { code?: string; cause?: { code?: string } };
  if (NEVER_CONNECTED.has(cause?.code ?? code ?? ""))
    return new NotRun("the server cannot be reached", { cause: error });
  return error instanceof Error ? error : new Error("the request failed", { cause: error });
}

/** Parses seconds or a date. 0 for other text. */
function retryAfterMs(text: string | null): number {
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Math.max(ms, 0);
}

/**
 * Largest answer, uncompressed. Requests ask for a few MiB, unless a single value is larger. Reading an answer takes
 * about four times its size: its parts, their text, the strings in the text, and the bytes in the strings.
 */
export const MAX_ANSWER_BYTES = 32 * 2 ** 20;

/** Reads the text of an answer. Cancels it when it is longer than `maxBytes`, because nothing else bounds it. */
export async function textWithin(response: Response, maxBytes = MAX_ANSWER_BYTES): Promise<string> {
  const { body, headers } = response;
  const declared = headers.get("Content-Length");
  if (declared !== null && Number(declared) > maxBytes) {
    await body?.cancel();
    throw new Error(`the answer has ${declared} bytes; at most ${maxBytes} are read`);
  }
  // A compressed body may become any length. An uncompressed one has its declared length.
  if (!body || (declared !== null && headers.get("Content-Encoding") === null)) return response.text();
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    sizeBytes += value!.length;
    if (sizeBytes > maxBytes) {
      await reader.cancel();
      throw new Error(`the answer has more than ${maxBytes} bytes, and was cancelled`);
    }
    parts.push(value!);
  }
  return textOf(parts);
}

function textOf(parts: Uint8Array[]): string {
  const decoder = new TextDecoder();
  let text = "";
  for (let i = 0; i < parts.length; i++) {
    text += decoder.decode(parts[i], { stream: true });
    // Frees each part after its copy.
    parts[i] = undefined as never;
  }
  return text + decoder.decode();
}
