import type { Packing } from "../../store/contract.ts";
import type { Ask, PolicyReply, Reply } from "./ask.ts";

const ASK_HEAD_BYTES = 32;
const RULE_BYTES = 40;
const REPLY_HEAD_BYTES = 24;
const POLICY_REPLY_BYTES = 40;

/** How an ask of so many policies and its reply lie in bytes; layouts in lua/limiter/decide.lua. */
export function packingOf(policies: number): Packing<Ask, Reply> {
  return {
    inputBytes: ASK_HEAD_BYTES + policies * RULE_BYTES,
    answerBytes: REPLY_HEAD_BYTES + policies * POLICY_REPLY_BYTES,
    write,
    read: (view, at) => read(view, at, policies),
  };
}

function write(view: DataView, at: number, ask: Ask): void {
  view.setUint8(at, ask.mode);
  view.setUint8(at + 1, (ask.isPartial ? 1 : 0) | (ask.hasRequest ? 2 : 0));
  view.setUint32(at + 4, ask.calls, true);
  view.setFloat64(at + 8, ask.amount, true);
  if (ask.token !== "")
    for (let i = 0; i < 16; i++) view.setUint8(at + 16 + i, Number.parseInt(ask.token.slice(2 * i, 2 * i + 2), 16));
  for (let i = 0; i < ask.rules.length; i++) {
    const { kind, isShadow, isAligned, cost, limit, spanMs, rate } = ask.rules[i];
    const rule = at + ASK_HEAD_BYTES + i * RULE_BYTES;
    const isHead = ask.isHead[i];
    view.setUint8(rule, kind);
    view.setUint8(
      rule + 1,
      (isShadow ? 1 : 0) | (isAligned ? 2 : 0) | (isHead ? 4 : 0) | (isHead && ask.hasHolds ? 8 : 0),
    );
    view.setFloat64(rule + 8, cost, true);
    view.setFloat64(rule + 16, limit, true);
    view.setFloat64(rule + 24, spanMs, true);
    view.setFloat64(rule + 32, rate, true);
  }
}

function read(view: DataView, at: number, count: number): Reply {
  const policies: PolicyReply[] = [];
  for (let i = 0; i < count; i++) {
    const policy = at + REPLY_HEAD_BYTES + i * POLICY_REPLY_BYTES;
    policies.push({
      passes: view.getUint32(policy, true),
      used: view.getFloat64(policy + 16, true),
      held: view.getFloat64(policy + 8, true),
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
