/** The members of Node's request that are used. Express's request has them too. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express's: the path before a router removed its own part. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** A TLS socket has the property `encrypted`. */
  readonly socket: object;
}

/** The members of Node's response that are used. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
  readonly destroyed?: boolean;
}

/** A request handler of node:http, Express and Connect. */
export type NodeHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

/** Answers requests of Node. Errors go to `next`; without it they reject. */
export function nodeHandler(fetch: (request: Request) => Promise<Response>): NodeHandler {
  return async (incoming, outgoing, next) => {
    try {
      const request = requestOf(incoming);
      if (request) await send(await fetch(request), outgoing);
      else {
        outgoing.writeHead(400, { "Content-Type": "text/plain" });
        outgoing.end();
      }
    } catch (error) {
      if (!next) throw error;
      next(error);
    }
  };
}

/** Undefined if the request names no valid host or path. It has no body, since the dashboard reads none. */
function requestOf({ method = "GET", originalUrl, url, headers, socket }: NodeRequest): Request | undefined {
  const own = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(":") ? [] : [[name, typeof value === "string" ? value : value.join(", ")]],
  );
  const host = headers.host ?? headers[":authority"];
  const path = originalUrl ?? url ?? "/";
  try {
    const base = `${"encrypted" in socket ? "https" : "http"}://${host}`;
    if (typeof host !== "string" || /[/?#@\\]/.test(host) || !path.startsWith("/")) return undefined;
    return new Request(base + path, { method, headers: own });
  } catch {
    return undefined;
  }
}

/** Writes as fast as the client reads, and stops reading when it has gone. */
async function send(response: Response, outgoing: NodeResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  if (!reader) return void outgoing.end();
  let isGone = outgoing.destroyed === true;
  let onDrained = () => {};
  outgoing.once("close", () => {
    isGone = true;
    onDrained();
    reader.cancel().catch(() => {});
  });
  while (!isGone) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value) && !isGone)
      await new Promise<void>((resolve) => {
        onDrained = resolve;
        outgoing.once("drain", resolve);
      });
  }
  if (isGone) await reader.cancel();
  else outgoing.end();
}
