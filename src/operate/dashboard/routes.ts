import { argumentError, type OrielError, type OrielErrorCode, show } from "../../base/errors.ts";
import { warn } from "../../base/warn.ts";
import { hash, html, script, style } from "../../generated/dashboard.ts";
import { kindOf } from "../kinds/kinds.ts";
import { act, auditOf } from "./actions.ts";
import type { Answers } from "./answers.ts";
import { formSecret, isOwnPage, type Sessions } from "./guard/session.ts";
import { streamOf } from "./stream.ts";

const MAX_ROWS = 100;
const DEFAULT_SPAN_MS = 300_000;
const MAX_SPAN_MS = 2 ** 48;
const JSON_TYPE = "application/json; charset=utf-8";

const STATUS: Partial<Record<OrielErrorCode, number>> = {
  ARGUMENT: 400,
  MISMATCH: 409,
  TOO_LARGE: 413,
  OVERLOADED: 503,
  DEADLINE: 503,
  UNAVAILABLE: 503,
};

/** A request that was allowed, and what it asks for. */
export interface Visit {
  readonly request: Request;
  readonly query: URLSearchParams;
  /** The path of the page, which ends with a slash. Cookies are for it. */
  readonly path: string;
  /** Whether the browser uses https. */
  readonly isSecure: boolean;
  /** The user, as `authorize` named it. */
  readonly by: string | null;
}

type Route = (visit: Visit, answers: Answers, sessions: Sessions) => Response | Promise<Response>;

/** The page's own files, which contain no data. */
export const FILES: Readonly<Record<string, Route>> = {
  "": ({ request }) => fileOf(request, html, "text/html; charset=utf-8"),
  "page.js": ({ request }) => fileOf(request, script, "text/javascript; charset=utf-8"),
  "page.css": ({ request }) => fileOf(request, style, "text/css; charset=utf-8"),
};

/** Requests for data, with GET. */
export const READS: Readonly<Record<string, Route>> = {
  async overview(visit, answers) {
    const { secret, cookie } = formSecret(visit.request, visit);
    return jsonOf({ ...(await answers.overview()), form: secret }, 200, cookie);
  },
  stream({ query }, answers) {
    const ids = (query.get("rows") ?? "").split(",").filter((id) => id !== "");
    if (ids.length > MAX_ROWS) throw argumentError("rows", ids.length, `at most ${MAX_ROWS} ids`);
    return new Response(streamOf(answers, ids, spanOf(query)), {
      headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
    });
  },
  async rank({ query }, answers) {
    return jsonOf(await answers.rank(spanOf(query)));
  },
  async part({ query }, { scope }) {
    const structure = await scope.structure(query.get("id"));
    const { parts } = kindOf(structure.kind);
    const name = query.get("part") ?? "";
    const read = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (!read)
      throw argumentError("part", name, `one of ${Object.keys(parts).join(", ") || "none"} for ${structure.kind}`);
    const { body, csv } = await read(scope, structure, query);
    const format = query.get("format") ?? "";
    if (format === "csv" && csv) return download(csv(), "text/csv; charset=utf-8", `${name}.csv`);
    return format === "json" ? download(JSON.stringify(body), JSON_TYPE, `${name}.json`) : jsonOf(body);
  },
  async audit(_visit, { scope }) {
    return jsonOf(await auditOf(scope));
  },
};

/** Requests that change something, with POST. Their parameters are in the query, so that no framework reads a body. */
export const WRITES: Readonly<Record<string, Route>> = {
  async action({ request, query, by }, { scope }) {
    if (!(await isOwnPage(request))) return refusal(403, "the request does not come from the dashboard's own page");
    return jsonOf(await act(scope, query, by));
  },
};

/** Opens a session with the token, which comes in a header. */
export async function login(visit: Visit, sessions: Sessions): Promise<Response> {
  const cookie = await sessions.open(visit.request.headers.get("x-oriel-token") ?? "", visit);
  return cookie === undefined ? refusal(401, "this is not the token") : jsonOf({}, 200, cookie);
}

export function refusal(status: number, error: string): Response {
  return jsonOf({ error }, status);
}

export function errorAnswer({ message, code }: OrielError): Response {
  return jsonOf({ error: message, code }, STATUS[code] ?? 500);
}

/** The answer after an error of the program. Only the process sees its text, which may name what a visitor must not know. */
export function failureOf(error: unknown, what: string): Response {
  warn(`dashboard: ${what}: ${error instanceof Error ? error.message : show(error)}`);
  return refusal(500, `${what}; a warning of the dashboard's process says why`);
}

function jsonOf(body: unknown, status = 200, cookie?: string): Response {
  const headers = { "Content-Type": JSON_TYPE, "Cache-Control": "no-store", ...(cookie && { "Set-Cookie": cookie }) };
  return new Response(JSON.stringify(body), { status, headers });
}

function download(body: string, type: string, name: string): Response {
  return new Response(body, {
    headers: {
      "Content-Type": type,
      "Cache-Control": "no-store",
      "Content-Disposition": `attachment; filename="${name}"`,
    },
  });
}

/** `body` is compressed by gzip, in base64. */
function fileOf(request: Request, body: string, type: string): Response {
  const headers = { "Content-Type": type, "Cache-Control": "no-cache", ETag: `"${hash}"`, Vary: "Accept-Encoding" };
  if (request.headers.get("if-none-match") === headers.ETag) return new Response(null, { status: 304, headers });
  const zipped = Uint8Array.from(atob(body), (byte) => byte.charCodeAt(0));
  if (/\bgzip\b/.test(request.headers.get("accept-encoding") ?? ""))
    return new Response(zipped, { headers: { ...headers, "Content-Encoding": "gzip" } });
  return new Response(new Response(zipped).body!.pipeThrough(new DecompressionStream("gzip")), { headers });
}

function spanOf(query: URLSearchParams): number {
  const text = query.get("span");
  const span = text === null ? DEFAULT_SPAN_MS : Number(text);
  if (!Number.isSafeInteger(span) || span < 1000 || span > MAX_SPAN_MS)
    throw argumentError("span", text, "a number of ms, 1000 or more");
  return span;
}
