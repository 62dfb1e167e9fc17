// The upkeep of series in Cloudflare Workers, which do nothing after a request.
export const upkeep = undefined;
