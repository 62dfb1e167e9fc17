import { OrielError } from "../../base/errors.ts";
import { atSite, checkStore } from "../../base/site.ts";
import type { WatchedStore } from "../../store/contract.ts";
import { Scope } from "../kinds/scope.ts";
import { type FastifyInstance, fastifyPlugin } from "./adapters/fastify.ts";
import { type HonoLike, honoHandler } from "./adapters/hono.ts";
import { type NodeHandler, nodeHandler } from "./adapters/node.ts";
import { Answers } from "./answers.ts";
import { isAllowedHost } from "./guard/hosts.ts";
import { Sessions } from "./guard/session.ts";
import { type Authorized, type DashboardOptions, type DashboardSettings, dashboardSettings } from "./options.ts";
import { errorAnswer, FILES, failureOf, login, READS, refusal, type Visit, WRITES } from "./routes.ts";

/** One page with everything in a store, for any server. All its addresses are relative, so it works below any path. */
export interface Dashboard {
  /** Answers a request of a `fetch` handler (Workers, Deno, Bun). The path of the page ends with a slash. */
  fetch(request: Request): Promise<Response>;
  /** A handler for Express (`app.use("/oriel", board.node)`), Connect and plain Node. */
  node: NodeHandler;
  /** A plugin for Fastify: `app.register(board.fastify, { prefix: "/oriel" })`. */
  fastify(instance: FastifyInstance, options: unknown, done: () => void): void;
  /** A handler for Hono: `app.all("/oriel/*", board.hono)`. */
  hono(context: HonoLike): Promise<Response>;
}

/**
 * Makes a dashboard of the structures in a store. Without options it answers requests for loopback names only. For other
 * names pass `hosts`, and `token` or `authorize`. It reads only what is on a screen, and announces nothing in the
 * registry. Throws ARGUMENT for a wrong option.
 */
export function dashboard(store: WatchedStore, options: DashboardOptions = {}): Dashboard {
  return atSite("dashboard", () => {
    checkStore(store);
    const settings = dashboardSettings(options);
    const answers = new Answers(new Scope(store, settings));
    const sessions = new Sessions(settings.token);
    const fetch = async (request: Request) => secured(await answer(request, settings, answers, sessions));
    return { fetch, node: nodeHandler(fetch), fastify: fastifyPlugin(fetch), hono: honoHandler(fetch) };
  });
}

/** The end of a path below the page's own. */
const OWN = /^(.*\/)(page\.js|page\.css|api\/([^/]*))?$/;

async function answer(
  request: Request,
  settings: DashboardSettings,
  answers: Answers,
  sessions: Sessions,
): Promise<Response> {
  const url = new URL(request.url);
  const by = await userOf(request, url, settings);
  if (by instanceof Response) return by;
  const { pathname, searchParams: query } = url;
  const [, path, file = "", name] = OWN.exec(pathname) ?? [];
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (path === undefined) return isRead && !/\.[^/]*$/.test(pathname) ? withSlash(pathname) : refusal(404, "not found");
  const visit: Visit = { request, query, path, isSecure: isSecure(url, settings), by };
  try {
    if (name === undefined) return isRead ? await FILES[file]!(visit, answers, sessions) : refusal(405, "use GET");
    if (name === "login") return isRead ? refusal(405, "use POST") : await login(visit, sessions);
    if (!(await sessions.isOpen(request))) return refusal(401, "the token is needed");
    const routes = name in READS ? READS : WRITES;
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
    if (!route) return refusal(404, "not found");
    const isRight = routes === READS ? isRead : request.method === "POST";
    return isRight ? await route(visit, answers, sessions) : refusal(405, routes === READS ? "use GET" : "use POST");
  } catch (error) {
    if (error instanceof OrielError) return errorAnswer(error);
    return failureOf(error, "the dashboard failed");
  }
}

/** The user, as `authorize` names it, or null. A response if the request is refused. */
async function userOf(request: Request, url: URL, settings: DashboardSettings): Promise<string | null | Response> {
  if (!isAllowedHost(url, isSecure(url, settings), settings.hosts))
    return refusal(403, `the dashboard does not answer under the name ${JSON.stringify(url.host)}; pass it in hosts`);
  // The path of a cookie ends at a semicolon, and attributes follow.
  if (url.pathname.includes(";")) return refusal(400, "the path of the dashboard cannot contain a semicolon");
  let allowed: Authorized;
  try {
    allowed = await settings.authorize(request);
  } catch (error) {
    return failureOf(error, "authorize failed, so the request is refused");
  }
  if (allowed === true) return null;
  // An empty name may stand for a user whom the program does not know.
  return typeof allowed === "string" && allowed !== "" ? allowed : refusal(403, "this is not allowed");
}

/** Whether the browser uses https, which a proxy may have ended. */
function isSecure({ protocol }: URL, { https }: DashboardSettings): boolean {
  return https || protocol === "https:";
}

/** Relative addresses need the slash. The place is relative, too, since a proxy may have removed a part of the path. */
function withSlash(pathname: string): Response {
  return new Response(null, { status: 302, headers: { Location: `./${pathname.split("/").at(-1)}/` } });
}

function secured(response: Response): Response {
  for (const [name, value] of Object.entries(SAFE_HEADERS)) response.headers.set(name, value);
  return response;
}

/** Nothing but the page's own files. uPlot sets styles by script, which this policy allows. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The fields of every response. */
const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};
