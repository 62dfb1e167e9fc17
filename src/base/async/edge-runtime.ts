/**
 * True in Vercel's edge runtime. `next dev` and `next start` imitate it with Node's functions in place, such as
 * `setImmediate`, and each of them throws.
 */
export const isEdgeRuntime: boolean = "EdgeRuntime" in globalThis;
