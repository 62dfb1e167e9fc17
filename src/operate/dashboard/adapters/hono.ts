/** The member of Hono's context that is used. */
export interface HonoLike {
  readonly req: { readonly raw: Request };
}

/** Answers requests of Hono. */
export function honoHandler(fetch: (request: Request) => Promise<Response>): (context: HonoLike) => Promise<Response> {
  return (context) => fetch(context.req.raw);
}
