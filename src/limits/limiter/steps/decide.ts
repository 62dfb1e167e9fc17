import { argumentError } from "../../../base/errors.ts";
import * as layout from "../../../generated/layouts/limiter.ts";
import { decideScript, withoutGrowthScript } from "../../../generated/scripts/limiter.ts";
import { version } from "../../../generated/version.ts";
import type { PackedStep, Packing, Store } from "../../../store/contract.ts";
import { packed } from "../../../store/delivery/packed.ts";
import type { Policy } from "../policies.ts";
import type { Rule } from "./rule.ts";

type DecideStep = PackedStep<DecideRequest, DecideReply>;

const operations = new Map<string, DecideStep>();

/**
 * Asks all policies and takes from all of them or from none. lua/limiter/decide.lua states the rules.
 * There is one operation for each number of policies and keys, because steps that share a request must have one size.
 * A step that `grows` may need memory, so a full server refuses it. The others run as lua/limiter/without-growth.lua.
 */
export function decideFor(policies: number, keyCount: number, repeatable: boolean, grows = true): DecideStep {
  const name = `${policies} ${keyCount} ${repeatable} ${grows}`;
  let operation = operations.get(name);
  if (!operation) {
    operation = {
      name: grows ? "limiter/decide" : "limiter/without-growth",
      script: grows ? decideScript : withoutGrowthScript,
      keyCount,
      keysOf,
      repeatable,
      packing: packingOf(policies),
      localFrom: version,
    };
    operations.set(name, operation);
  }
  return operation;
}

/** The input of one step. layouts/limiter.mjs has its records. */
export interface DecideRequest {
  /** One of `MODE`. */
  mode: number;
  /** Number of equal calls, which are decided in one step as if one came after the other. */
  calls: number;
  /** Whether fewer permits than the cost are enough, down to `amount`. */
  isPartial: boolean;
  /** Permits. Mode block: ms. Modes reserve and charge: the lease, ms. */
  amount: number;
  /** Mode reserve: the end of the lease charges what was not charged before. */
  isChargedAtEnd?: boolean;
  /** 32 hexadecimal digits, which name a permit or a reservation; "" for none. */
  token: string;
  rules: readonly Rule[];
  /** Whether the i-th policy is its limiter's first. The first one's state has the limiter's block and reservations. */
  isHead: readonly boolean[];
  /** What follows `key` in each key of the step: policies, then each limiter's reservations, then the request's two. */
  keySuffixes: readonly string[];
  hasReservations: boolean;
  hasRequest: boolean;
}

interface PolicyReply {
  /** Number of calls that the policy allows. Modes charge and settle: permits charged so far. */
  passes: number;
  /** When all permits of a calendar window have ended, in minutes since 1970; 0 for other policies. */
  endMinute: number;
  /** Permits taken; for a leaky bucket or GCRA, the level. */
  used: number;
  /** Permits reserved. */
  reserved: number;
  /** Ms until the first refused call passes; 0 if none is refused. */
  waitMs: number;
  resetMs: number;
}

export interface DecideReply {
  /** One of `STATUS`. */
  status: number;
  /** Number of calls that passed, the first ones. */
  granted: number;
  /** Permits that each of them got. Status `outside`: the time, in ms since 1970. */
  permits: number;
  blockedMs: number;
  policies: readonly PolicyReply[];
}

export function keysOf(key: string, { keySuffixes }: DecideRequest): string[] {
  return keySuffixes.map((suffix) => key + suffix);
}

const SEPARATORS: Record<string, string> = { "%": "%25", ":": "%3A", "!": "%21" };
const escaped = (text: string, separators: RegExp) => text.replace(separators, (found) => SEPARATORS[found]!);

/**
 * Returns the prefix of all keys of one id: `<prefix>{<name>:<id>}:limit`, in its own slot, or with a tag
 * `<prefix>{<tag>}:limit:<name>:<id>`. A policy's name follows, or "!" for reservations, requests and turns. The name has no
 * separator, and the braces end the id, so that an id stands in its key as it is. Beside a tag "%" and "!" are escaped in
 * it: "!" follows it, or ":" and a policy's name, which has neither.
 */
export function keyPrefixOf(store: Store, name: string, id: string, tag: string | undefined): string {
  if (typeof id !== "string") throw argumentError("id", id, "a string");
  const own = escaped(name, /[%:!]/g);
  const key = keyOr(store, `${own}:${id}`, "id", id, "with the name at most 10240 bytes");
  if (tag === undefined) return `${key}:limit`;
  return `${keyOr(store, tag, "tag", tag, "at most 10240 bytes")}:limit:${own}:${escaped(id, /[%!]/g)}`;
}

/** The key of the processes that use a limiter. */
export function callersKeyOf(store: Store, name: string): string {
  return `${keyOr(store, escaped(name, /[%:!]/g), "name", name, "at most 10240 bytes")}:limit:processes`;
}

/** The store's key of a name. If the store refuses it, the error names the caller's argument. */
function keyOr(store: Store, name: string, argument: string, value: unknown, bound: string): string {
  try {
    return store.keyOf(name);
  } catch {
    throw argumentError(argument, value, `a string without lone surrogates, ${bound}`);
  }
}

/** The rest of each policy's key after the prefix. */
export function policySuffixes(policies: readonly Policy[]): string[] {
  return policies.map(({ name }) => `:${name}`);
}

export const RESERVATIONS_SUFFIX = "!holds";

/** The key that all requests with an id share. A reset deletes it, so that they are decided again. */
export const REQUESTS_SUFFIX = "!requests";

/** The key of the queue of callers that wait for lent permits of an id. */
export function turnKeyOf(keyPrefix: string): string {
  return `${keyPrefix}!turn`;
}

export function requestSuffix(requestId: string): string {
  if (typeof requestId !== "string" || requestId.length === 0 || requestId.length > 256)
    throw argumentError("requestId", requestId, "a string of 1 to 256 characters");
  if (/\p{Surrogate}/u.test(requestId)) throw argumentError("requestId", requestId, "a string without lone surrogates");
  return `!request:${requestId}`;
}

const TOKEN_BYTES = layout.REQUEST_BYTES - layout.REQUEST_TOKEN_AT;

/** The bytes of a request with `policies` policies, and of its reply. layouts/limiter.mjs has their records. */
function packingOf(policies: number): Packing<DecideRequest, DecideReply> {
  return packed({
    inputBytes: layout.REQUEST_BYTES + policies * layout.RULE_BYTES,
    answerBytes: layout.REPLY_BYTES + policies * layout.POLICY_REPLY_BYTES,
    write: writeRequest,
    read: (view, at) => readReply(view, at, policies),
  });
}

function writeRequest(view: DataView, at: number, request: DecideRequest): void {
  view.setUint8(at + layout.REQUEST_MODE_AT, request.mode);
  view.setUint8(
    at + layout.REQUEST_FLAGS_AT,
    (request.isPartial ? layout.REQUEST_FLAG.partial : 0) |
      (request.hasRequest ? layout.REQUEST_FLAG.hasId : 0) |
      (request.isChargedAtEnd ? layout.REQUEST_FLAG.chargedAtEnd : 0),
  );
  view.setUint32(at + layout.REQUEST_CALLS_AT, request.calls, true);
  view.setFloat64(at + layout.REQUEST_AMOUNT_AT, request.amount, true);
  if (request.token !== "")
    for (let i = 0; i < TOKEN_BYTES; i++)
      view.setUint8(at + layout.REQUEST_TOKEN_AT + i, Number.parseInt(request.token.slice(2 * i, 2 * i + 2), 16));
  for (let i = 0; i < request.rules.length; i++) {
    const { kind, isShadow, isAligned, calendar, cost, limit, spanMs, rate } = request.rules[i]!;
    const rule = at + layout.REQUEST_BYTES + i * layout.RULE_BYTES;
    const isHead = request.isHead[i];
    view.setUint8(rule + layout.RULE_KIND_AT, kind);
    view.setUint8(
      rule + layout.RULE_FLAGS_AT,
      (isShadow ? layout.RULE_FLAG.shadow : 0) |
        (isAligned ? layout.RULE_FLAG.aligned : 0) |
        (isHead ? layout.RULE_FLAG.head : 0) |
        (isHead && request.hasReservations ? layout.RULE_FLAG.reservations : 0),
    );
    view.setUint8(rule + layout.RULE_CALENDAR_AT, calendar);
    view.setFloat64(rule + layout.RULE_COST_AT, cost, true);
    view.setFloat64(rule + layout.RULE_LIMIT_AT, limit, true);
    view.setFloat64(rule + layout.RULE_SPAN_MS_AT, spanMs, true);
    view.setFloat64(rule + layout.RULE_RATE_AT, rate, true);
  }
}

function readReply(view: DataView, at: number, count: number): DecideReply {
  const policies: PolicyReply[] = [];
  for (let i = 0; i < count; i++) {
    const policy = at + layout.REPLY_BYTES + i * layout.POLICY_REPLY_BYTES;
    policies.push({
      passes: view.getUint32(policy + layout.POLICY_REPLY_PASSES_AT, true),
      endMinute: view.getUint32(policy + layout.POLICY_REPLY_END_MINUTE_AT, true),
      used: view.getFloat64(policy + layout.POLICY_REPLY_USED_AT, true),
      reserved: view.getFloat64(policy + layout.POLICY_REPLY_RESERVED_AT, true),
      waitMs: view.getFloat64(policy + layout.POLICY_REPLY_WAIT_MS_AT, true),
      resetMs: view.getFloat64(policy + layout.POLICY_REPLY_RESET_MS_AT, true),
    });
  }
  return {
    status: view.getUint32(at + layout.REPLY_STATUS_AT, true),
    granted: view.getUint32(at + layout.REPLY_GRANTED_AT, true),
    permits: view.getFloat64(at + layout.REPLY_PERMITS_AT, true),
    blockedMs: view.getFloat64(at + layout.REPLY_BLOCKED_MS_AT, true),
    policies,
  };
}
