import { ServerError, serverError } from "../delivery/client.ts";
import { redacted, withoutSecrets } from "../secrets.ts";
import { NotRun, repliesOf } from "./http-answer.ts";
import type { HttpCommand } from "./http-command.ts";
import { textWithin } from "./http-text.ts";

/** What is used of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where requests go. */
export interface HttpServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly fetch: Fetch;
}

/** What runtimes say of a connection that was never made: Node's codes, and Bun's. */
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused",
]);

/**
 * Sends commands in one HTTP request, in their order, and settles each; gives the answer's Retry-After, ms, else 0. Never
 * rejects. When nobody waits for any of them, the request is aborted.
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
      // A text or bytes Deno sends again by itself when a kept connection breaks, a Blob it does not.
      body: new Blob(isPipeline ? [`[${parts.join(",")}]`] : parts),
      signal: giveUp.signal,
    });
    // The server may say what it was sent.
    const text = redacted(await textWithin(response), response.status === 200 ? [] : [server.token]);
    const replies = repliesOf(response.status, text, open.length, isPipeline);
    for (const [i, command] of open.entries()) command.settle(safe(replies[i], server));
    return response.status === 429 ? retryAfterMs(response.headers.get("Retry-After")) : 0;
  } catch (error) {
    for (const command of open) command.settle(lostOf(withoutSecrets(error, [server.token])));
    return 0;
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

/** Seconds, or a date; 0 where it says neither. */
function retryAfterMs(text: string | null): number {
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Math.max(ms, 0);
}
