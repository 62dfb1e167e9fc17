import { atSite } from "../../base/site.ts";
import type { Decision } from "../../limits/limiter/decision.ts";
import { admission, type LimiterOptions } from "../admission.ts";
import type { Taker } from "../taker.ts";
import { deniedResponse, respondWith } from "./response.ts";

/**
 * The members of Hono's context that this middleware, most keys and most answers use. For more, annotate the parameter:
 * `(c: Context) => ...`.
 */
export interface HonoContext {
  // biome-ignore lint/suspicious/noExplicitAny: Hono's own type, which each application defines
  env: any;
  req: { raw: Request; header(name: string): string | undefined };
  res: Response;
  readonly finalized?: boolean;
  set(name: "rateLimit", decision: Decision): void;
  text(text: string, status?: HonoStatus): Response;
  json(value: object, status?: HonoStatus): Response;
  html(html: string, status?: HonoStatus): Response | Promise<Response>;
}

/** The statuses with which requests are denied. */
export type HonoStatus = 400 | 401 | 402 | 403 | 404 | 429 | 500 | 503;

/** Options of `honoLimiter`. */
export interface HonoLimiterOptions<Context> extends LimiterOptions<Context> {
  /** The response to a denied request. The header fields are added to it. Default: that of `problemOf`. */
  onDenied?: ((context: Context, decision: Decision) => Response | Promise<Response>) | undefined;
}

/**
 * Returns Hono middleware that passes or denies each request as the limiter decides. The decision is the context's
 * variable "rateLimit" and `decisionOf(context.req.raw)`. The client's address is known on Node (@hono/node-server), Bun,
 * Deno and Workers. Elsewhere pass `key: (c: Context) => clientKey(getConnInfo(c).remote.address)`. Errors go to Hono's
 * `onError`. Throws ARGUMENT for wrong options.
 */
export function honoLimiter<Context extends HonoContext = HonoContext>(
  limiter: Taker,
  options: HonoLimiterOptions<Context> = {},
): (context: NoInfer<Context>, next: () => Promise<void>) => Promise<Response | undefined> {
  return atSite("honoLimiter", () => {
    const admit = admission("honoLimiter", limiter, options, addressOf, (context) => context.req.raw);
    const { onDenied = (_context, decision) => deniedResponse(decision) } = options;
    return async (context, next) => {
      const admitted = await admit(context);
      if (admitted === undefined) {
        await next();
        return undefined;
      }
      const { decision } = admitted;
      context.set("rateLimit", decision);
      const { allowed } = decision;
      const response = await respondWith(context.req.raw, context.env, admitted, async () => {
        if (!allowed) return onDenied(context, decision);
        await next();
        return context.res;
      });
      if (!allowed) return response;
      if (context.finalized !== false) replace(context, response); // Hono reports a handler without an answer
      return undefined;
    };
  });
}

/** The client's address, as the runtime says it. */
function addressOf({ env, req }: HonoContext): string | undefined {
  // Cloudflare sets both, and replaces a header of the client. The bindings of a Worker may have any name.
  if ("cf" in req.raw && req.raw.cf) return req.header("cf-connecting-ip");
  if (typeof env?.requestIP === "function") return env.requestIP(req.raw)?.address; // Bun
  return env?.remoteAddr?.hostname ?? env?.incoming?.socket?.remoteAddress; // Deno, Node
}

/** Hono merges the headers of the previous response into the next one, so the previous one is removed first. */
function replace(context: HonoContext, response: Response): void {
  if (context.res === response) return;
  (context as { res: Response | undefined }).res = undefined;
  context.res = response;
}
