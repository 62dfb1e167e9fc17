import { argumentError, OrielError, wholeNumber } from "../../../base/errors.ts";
import { DelayQueue } from "../../../queue/delay-queue.ts";
import type { QueuedMessage } from "../../../queue/message.ts";
import { timingOf } from "../history/timings.ts";
import type { QueueMessage, QueueState } from "../parts.ts";
import { payloadText } from "../payload.ts";
import type { Listed, Scope } from "../scope.ts";
import type { DashboardKind } from "./kind.ts";

const MAX_LISTED = 1000;
const MAX_PEEKED = 100;

/** Queues: how many messages are in each state, the next ones, and the dead ones. */
export const queueKind: DashboardKind = {
  kind: "DelayQueue",
  columns: ["lag"],
  async numbers(scope, structure) {
    const queue = queueOf(scope, structure);
    const [lag, { dead, isPaused }] = await Promise.all([queue.lag(), queue.counts()]);
    const states = [...(isPaused ? ["paused"] : []), ...(dead > 0 ? [`${dead} dead`] : [])];
    return { lag, state: states.join(", "), isBad: dead > 0 };
  },
  parts: {
    async state(scope, structure) {
      const queue = queueOf(scope, structure);
      const [counts, lagMs] = await Promise.all([queue.counts(), queue.lag()]);
      return { body: { ...counts, lagMs } satisfies QueueState };
    },
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

function queueOf(scope: Scope, structure: Listed): DelayQueue {
  return scope.opened(structure, ({ name, settings }) => {
    const { shards } = settings;
    return new DelayQueue(scope.store, name, typeof shards === "number" ? { shards } : {});
  });
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
