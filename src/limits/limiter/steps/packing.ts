import * as layout from "../../../generated/layouts/limiter.ts";
import type { Packing } from "../../../store/contract.ts";
import { packed } from "../../../store/delivery/packed.ts";
import type { DecideReply, DecideRequest, PolicyReply } from "./request.ts";

const TOKEN_BYTES = layout.REQUEST_BYTES - layout.REQUEST_TOKEN_AT;

/** The bytes of a request with `policies` policies, and of its reply. layouts/limiter.mjs has their records. */
export function packingOf(policies: number): Packing<DecideRequest, DecideReply> {
  return packed({
    inputBytes: layout.REQUEST_BYTES + policies * layout.RULE_BYTES,
    answerBytes: layout.REPLY_BYTES + policies * layout.POLICY_REPLY_BYTES,
    write,
    read: (view, at) => read(view, at, policies),
  });
}

function write(view: DataView, at: number, request: DecideRequest): void {
  view.setUint8(at + layout.REQUEST_MODE_AT, request.mode);
  view.setUint8(
    at + layout.REQUEST_FLAGS_AT,
    (request.isPartial ? layout.REQUEST_FLAG.partial : 0) | (request.hasRequest ? layout.REQUEST_FLAG.hasId : 0),
  );
  view.setUint32(at + layout.REQUEST_CALLS_AT, request.calls, true);
  view.setFloat64(at + layout.REQUEST_AMOUNT_AT, request.amount, true);
  if (request.token !== "")
    for (let i = 0; i < TOKEN_BYTES; i++)
      view.setUint8(at + layout.REQUEST_TOKEN_AT + i, Number.parseInt(request.token.slice(2 * i, 2 * i + 2), 16));
  for (let i = 0; i < request.rules.length; i++) {
    const { kind, isShadow, isAligned, cost, limit, spanMs, rate } = request.rules[i]!;
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
    view.setFloat64(rule + layout.RULE_COST_AT, cost, true);
    view.setFloat64(rule + layout.RULE_LIMIT_AT, limit, true);
    view.setFloat64(rule + layout.RULE_SPAN_MS_AT, spanMs, true);
    view.setFloat64(rule + layout.RULE_RATE_AT, rate, true);
  }
}

function read(view: DataView, at: number, count: number): DecideReply {
  const policies: PolicyReply[] = [];
  for (let i = 0; i < count; i++) {
    const policy = at + layout.REPLY_BYTES + i * layout.POLICY_REPLY_BYTES;
    policies.push({
      passes: view.getUint32(policy + layout.POLICY_REPLY_PASSES_AT, true),
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
