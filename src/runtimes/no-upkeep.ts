// Stands in the place of series/session/upkeep.ts in bundles for Cloudflare Workers, which do nothing after a request.
export const upkeep = undefined;
