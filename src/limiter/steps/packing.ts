import type { Packing } from "../../store/contract.ts";
import { packed } from "../../store/delivery/packed.ts";
import type { DecideReply, DecideRequest, PolicyReply } from "./request.ts";

const REQUEST_HEAD_BYTES = 32;
const RULE_BYTES = 40;
const REPLY_HEAD_BYTES = 24;
const POLICY_REPLY_BYTES = 40;

/** The bytes of a request with `policies` policies, and of its reply. lua/limiter/decide.lua has the layouts. */
export function packingOf(policies: number): Packing<DecideRequest, DecideReply> {
  return packed({
    inputBytes: REQUEST_HEAD_BYTES + policies * RULE_BYTES,
    answerBytes: REPLY_HEAD_BYTES + policies * POLICY_REPLY_BYTES,
    write,
    read: (view, at) => read(view, at, policies),
  });
}

function write(view: DataView, at: number, request: DecideRequest): void {
  view.setUint8(at, request.mode);
  view.setUint8(at + 1, (request.isPartial ? 1 : 0) | (request.hasRequest ? 2 : 0));
  view.setUint32(at + 4, request.calls, true);
  view.setFloat64(at + 8, request.amount, true);
  if (request.token !== "")
    for (let i = 0; i < 16; i++) view.setUint8(at + 16 + i, Number.parseInt(request.token.slice(2 * i, 2 * i + 2), 16));
  for (let i = 0; i < request.rules.length; i++) {
    const { kind, isShadow, isAligned, cost, limit, spanMs, rate } = request.rules[i]!;
    const rule = at + REQUEST_HEAD_BYTES + i * RULE_BYTES;
    const isHead = request.isHead[i];
    view.setUint8(rule, kind);
    view.setUint8(
      rule + 1,
      (isShadow ? 1 : 0) | (isAligned ? 2 : 0) | (isHead ? 4 : 0) | (isHead && request.hasReservations ? 8 : 0),
    );
    view.setFloat64(rule + 8, cost, true);
    view.setFloat64(rule + 16, limit, true);
    view.setFloat64(rule + 24, spanMs, true);
    view.setFloat64(rule + 32, rate, true);
  }
}

function read(view: DataView, at: number, count: number): DecideReply {
  const policies: PolicyReply[] = [];
  for (let i = 0; i < count; i++) {
    const policy = at + REPLY_HEAD_BYTES + i * POLICY_REPLY_BYTES;
    policies.push({
      passes: view.getUint32(policy, true),
      used: view.getFloat64(policy + 16, true),
      reserved: view.getFloat64(policy + 8, true),
      waitMs: view.getFloat64(policy + 24, true),
      resetMs: view.getFloat64(policy + 32, true),
    });
  }
  return {
    status: view.getUint8(at),
    granted: view.getUint32(at + 4, true),
    permits: view.getFloat64(at + 8, true),
    blockedMs: view.getFloat64(at + 16, true),
    policies,
  };
}
