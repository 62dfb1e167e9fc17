import { argumentError, OrielError, wholeNumber } from "../../base/errors.ts";
import { Series } from "../../engine/series/series.ts";
import { DelayQueue } from "../../queue/delay-queue.ts";
import type { QueuedMessage } from "../../queue/message.ts";
import { MAX_SPAN_MS, outcomeHistory, outcomeSums } from "../dashboard/history/outcomes.ts";
import type { PayloadText, QueueMessage, QueueState } from "../dashboard/parts.ts";
import type { SeriesView } from "../dashboard/protocol.ts";
import { viewOf, windowOf } from "../dashboard/series/view.ts";
import { TIMINGS, type Timing, timingSeries } from "../history/names.ts";
import type { Kind } from "./kind.ts";
import type { Identified, Open, Scope } from "./scope.ts";

const MAX_LISTED = 1000;
const MAX_PEEKED = 100;

export const openQueue: Open<DelayQueue> = (store, { name, settings: { shards } }) =>
  new DelayQueue(store, name, typeof shards === "number" ? { shards } : {});

/** Queues: how many messages are in each state, the next ones, and the dead ones. */
export const queueKind: Kind = {
  open: openQueue,
  columns: ["spark", "rate", "lag"],
  async numbers(scope, structure, span) {
    const queue = queueOf(scope, structure);
    const [lag, { isPaused, ...counts }, sums] = await Promise.all([
      queue.lag(),
      queue.counts(),
      outcomeSums(scope, "DelayQueue", structure, span),
    ]);
    const words = (["due", "waiting", "claimed", "dead"] as const).filter((name) => counts[name] > 0);
    const states = [...(isPaused ? ["paused"] : []), ...words.map((name) => `${counts[name]} ${name}`)];
    const rates = sums && { rate: (sums.of("completed") * 1000) / span.spanMs, spark: sums.spark };
    const isBad = counts.dead > 0;
    return { ...rates, lag, state: states.join(", "), isBad, ...(isBad && { advice: "redrive or cancel them" }) };
  },
  parts: {
    async state(scope, structure) {
      return { body: await queueState(scope, structure) };
    },
    history: (scope, structure, query) => outcomeHistory(scope, "DelayQueue", structure, query),
    async timing(scope, structure, query) {
      return { body: await timingOf(scope, structure, query) };
    },
    async next(scope, structure, query) {
      const messages = await queueOf(scope, structure).peek({ limit: limitOf(query, MAX_PEEKED) });
      return { body: await Promise.all(messages.map((each) => messageOf(each, scope))) };
    },
    async dead(scope, structure, query) {
      const messages = await queueOf(scope, structure).dead.list({ limit: limitOf(query, MAX_LISTED) });
      return { body: await Promise.all(messages.map((each) => messageOf(each, scope))) };
    },
  },
  idActions: { redrive: "shown", cancel: "shown" },
  actions: {
    async redrive(scope, structure, query) {
      const id = idOf(query);
      const redriven = await queueOf(scope, structure).dead.redrive({ ids: [id] });
      if (redriven === 0)
        throw new OrielError("ARGUMENT", `no dead message that can be redriven has the id ${JSON.stringify(id)}`);
      return { target: id };
    },
    async redriveAll(scope, structure) {
      const redriven = await queueOf(scope, structure).dead.redrive();
      return { target: `${redriven} dead messages` };
    },
    async cancel(scope, structure, query) {
      const id = idOf(query);
      if (!(await queueOf(scope, structure).cancel(id)))
        throw new OrielError("ARGUMENT", `no waiting or dead message has the id ${JSON.stringify(id)}`);
      return { target: id };
    },
    async pause(scope, structure) {
      await queueOf(scope, structure).pause();
      return { target: "workers claim no message" };
    },
    async resume(scope, structure) {
      await queueOf(scope, structure).resume();
      return { target: "workers claim messages again" };
    },
  },
};

function queueOf(scope: Scope, structure: Identified): DelayQueue {
  return scope.opened(structure, openQueue);
}

export async function queueState(scope: Scope, structure: Identified): Promise<QueueState> {
  const queue = queueOf(scope, structure);
  const [counts, lagMs] = await Promise.all([queue.counts(), queue.lag()]);
  return { ...counts, lagMs };
}

function limitOf(query: URLSearchParams, most: number): number {
  return wholeNumber("limit", Number(query.get("limit") ?? 25), 1, most);
}

function idOf(query: URLSearchParams): string {
  const id = query.get("target") ?? "";
  if (id === "") throw argumentError("target", id, "the id of a message");
  return id;
}

async function messageOf(message: QueuedMessage, { settings, ids }: Scope): Promise<QueueMessage> {
  const { id, atMs, addedAtMs, attempt, attempts, priority, lastError } = message;
  const names = { key: await ids.keyOf(id), id: ids.shown(id) };
  const times = { atMs, addedAtMs, attempt, attempts, priority };
  // The text of an error may quote the payload.
  if (settings.masksIds) return { ...names, ...times, error: lastError === undefined ? null : "…", payload: null };
  return { ...names, ...times, error: lastError ?? null, payload: payloadText(message) };
}

/** One timing of a queue's messages over a window, in ms: exact percentiles, rate and heat map. Throws ARGUMENT. */
async function timingOf(scope: Scope, structure: Identified, query: URLSearchParams): Promise<SeriesView> {
  const timing = query.get("timing") ?? "lateness";
  if (!TIMINGS.includes(timing as Timing)) throw argumentError("timing", timing, `one of ${TIMINGS.join(", ")}`);
  const name = timingSeries(structure.name, timing as Timing);
  const series = scope.opened(
    { ...structure, id: `${structure.id} ${timing}` },
    (store) => new Series(store, name, { retention: MAX_SPAN_MS, nan: "ignore" }),
    (each) => each.close(),
  );
  return viewOf(series, await windowOf(series, MAX_SPAN_MS, query));
}

/** Of a payload that is shown. */
const MAX_CHARACTERS = 2000;
const MAX_BYTES = 512;
/** Control characters that no text has. */
const NO_TEXT = /[^\P{Cc}\t\n\r]/u;

/** A message's payload for people: JSON with line breaks, text, or the bytes in hexadecimal. */
function payloadText({ payload, corrupt }: QueuedMessage): PayloadText {
  if (corrupt) return { form: "corrupt", ...cut(`${corrupt.why}; base64: ${corrupt.base64}`) };
  if (typeof payload === "string") return { form: "text", ...cut(payload) };
  if (!(payload instanceof Uint8Array)) return { form: "json", ...cut(JSON.stringify(payload, null, 2)) };
  const text = textOf(payload);
  if (text !== undefined) return { form: "text", ...cut(text) };
  const shown = [...payload.subarray(0, MAX_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"));
  return { form: "hex", text: shown.join(" "), isCut: payload.length > MAX_BYTES };
}

/** The bytes as UTF-8, or undefined if they are none or hold control characters. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return NO_TEXT.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Never between the halves of a character. */
function cut(text: string): { text: string; isCut: boolean } {
  if (text.length <= MAX_CHARACTERS) return { text, isCut: false };
  return { text: text.slice(0, MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, ""), isCut: true };
}
