import { uniform } from "../events.ts";
import { percentile } from "../runner/measure.ts";
import { lognormal } from "../sealed/events.ts";

export const ROUTES = 200;
/** Begins the name of a route, before its number. */
export const ROUTE = "/route/";
/** A web framework has the text of each route once, so recorders do not make it for each call. */
export const ROUTE_NAMES = Array.from({ length: ROUTES }, (_, route) => ROUTE + route);
export const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"] as const;
export const GROUPS = ROUTES * METHODS.length;

/** Rows of a question: all calls of a route, or all calls of a route with one method. */
export type RowsBy = "route" | "group";

/** Calls of a service: of each its latency, and the numbers of its route and its method. */
export interface Calls {
  readonly values: Float32Array;
  readonly routes: Int32Array;
  readonly methods: Int32Array;
}

/** Of the nth route come 1/n as many calls as of the first, and so it is with methods. */
export function calls(count: number, seed: number): Calls {
  const random = uniform(seed);
  const drawn = (shares: Float64Array) => Int32Array.from({ length: count }, () => placeOf(random(), shares));
  return { values: lognormal(count, 1000), routes: drawn(zipf(ROUTES)), methods: drawn(zipf(METHODS.length)) };
}

/** The share of the first n of `count`, for each n. */
function zipf(count: number): Float64Array {
  const shares = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += 1 / (i + 1);
    shares[i] = sum;
  }
  return shares.map((share) => share / sum);
}

function placeOf(share: number, shares: Float64Array): number {
  const place = shares.findIndex((limit) => share < limit);
  return place < 0 ? shares.length - 1 : place;
}

export function groupOf({ routes, methods }: Calls, i: number): number {
  return routes[i]! * METHODS.length + methods[i]!;
}

/** The p99 of each row, by the number of the route or of the group. Rows without a call are left out. */
export type P99s = ReadonlyMap<number, number>;

/** By brute force. */
export function p99sOf(its: Calls, by: RowsBy): P99s {
  const values = new Map<number, number[]>();
  for (const [i, value] of its.values.entries()) {
    const row = by === "route" ? its.routes[i]! : groupOf(its, i);
    const known = values.get(row);
    if (known) known.push(value);
    else values.set(row, [value]);
  }
  return new Map([...values].map(([row, each]) => [row, percentile(each, 99)]));
}
