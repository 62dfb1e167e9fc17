import { ServerError } from "../../store/delivery/client.ts";
import { age, number } from "../format.ts";
import { type Check, remedyOf, wordsOf } from "./check.ts";
import type { Asker } from "./connection.ts";
import { FAR_MS, SLOW_MS } from "./health/health-facts.ts";

const ROUNDS = 15;

interface Measured {
  readonly latency: Check;
  readonly clock: Check;
  /** The server's time now, in ms since 1970, else this machine's. */
  readonly nowMs: number;
}

/** Measures round trips, and the offset of the server's clock at the fastest of them. */
export async function timing(asker: Asker): Promise<Measured> {
  const rounds: { elapsedMs: number; offsetMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [wallMs, beganMs] = [Date.now(), performance.now()];
    const reply = await asker.ask("TIME");
    const elapsedMs = performance.now() - beganMs;
    if (reply instanceof ServerError) return refused(wordsOf(reply), reply);
    const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : [];
    if (!(seconds! > 0 && micros! >= 0)) return refused("the answer has no time");
    rounds.push({ elapsedMs, offsetMs: seconds! * 1000 + micros! / 1000 - (wallMs + elapsedMs / 2) });
  }
  rounds.sort((a, b) => a.elapsedMs - b.elapsedMs);
  const [fastest, median] = [rounds[0]!, rounds[ROUNDS >> 1]!];
  return {
    latency: latencyOf(fastest.elapsedMs, median.elapsedMs),
    clock: clockOf(Math.round(fastest.offsetMs), Math.ceil(fastest.elapsedMs / 2)),
    nowMs: Math.round(Date.now() + fastest.offsetMs),
  };
}

function latencyOf(minMs: number, medianMs: number): Check {
  const text = `a round trip takes ${number(medianMs)} ms (median of ${ROUNDS}), at least ${number(minMs)} ms`;
  const facts = { minMs: rounded(minMs), medianMs: rounded(medianMs), rounds: ROUNDS };
  if (medianMs <= SLOW_MS) return { name: "latency", verdict: "good", text, facts };
  const advice = "Pass a longer deadline to the store (default 1 s), or move the program nearer to the server.";
  return { name: "latency", verdict: "degraded", text, advice, facts };
}

function clockOf(offsetMs: number, doubtMs: number): Check {
  const facts = { offsetMs, doubtMs };
  const side = offsetMs < 0 ? "behind" : "ahead of";
  const text =
    Math.abs(offsetMs) <= doubtMs + 1
      ? "the server's clock agrees with this machine's"
      : `the server's clock is ${age(Math.abs(offsetMs))} ${side} this machine's`;
  if (Math.abs(offsetMs) - doubtMs <= FAR_MS) return { name: "clock", verdict: "good", text, facts };
  return {
    name: "clock",
    verdict: "degraded",
    text: `${text}; steps use the server's, so times that your program passes (at, due times) are shifted`,
    advice: "Synchronize both clocks (NTP).",
    facts,
  };
}

function refused(why: string, reply?: ServerError): Measured {
  const text = `TIME is refused, which every step uses: ${why}`;
  return {
    latency: { name: "latency", verdict: "unknown", text: "not measured, because TIME is refused" },
    clock: { name: "clock", verdict: "unusable", text, ...remedyOf(reply) },
    nowMs: Date.now(),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
