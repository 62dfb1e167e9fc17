import { deferred } from "../../base/async/deferred.ts";
import { within } from "../../base/async/within.ts";
import { ServerError } from "../../store/delivery/client.ts";
import { type Check, isMissing, list, remedyOf, wordsOf } from "./check.ts";
import type { Asker } from "./connection.ts";
import { CHANNEL_FAMILIES } from "./rights.ts";

const POLLS = "waiters for a lock or a permit poll every 100 ms, and a queue's worker every 5 s";
const WITHOUT =
  "a waiter for a lock or a permit asks when the lease ends, at most after 16 s, and a queue's worker every 5 s";
const name = "messages";

/** Sends a message to itself on a channel of each family. `another` opens the subscriber's connection. */
export async function messages(asker: Asker, key: string, prefix: string, another: () => Asker): Promise<Check> {
  const subscriber = another();
  const { connection } = subscriber;
  const forbidden = new Map<string, ServerError>();
  let channel: string | undefined;
  try {
    if (!connection.subscribe) return { name, verdict: "note", text: `no subscriptions over HTTP: ${POLLS}` };
    for (const family of Object.keys(CHANNEL_FAMILIES)) {
      const arrived = deferred<void>();
      const subscribed = await subscriber.settled(connection.subscribe(family + key, () => arrived.resolve()));
      if (isOfChannel(subscribed)) {
        forbidden.set(family, subscribed);
        continue;
      }
      if (subscribed instanceof ServerError) return refused(subscribed, POLLS);
      channel = family + key;
      const published = await asker.ask("PUBLISH", channel, "");
      if (published instanceof ServerError) return refused(published, WITHOUT);
      const outcome = await within(arrived.promise, subscriber.deadlineMs);
      if (outcome.kind !== "done")
        return { name, verdict: "degraded", text: `a published message does not arrive: ${WITHOUT}` };
    }
    if (forbidden.size > 0) return withoutChannels(forbidden, prefix);
    const left = channel === undefined ? undefined : await subscriber.ask("UNSUBSCRIBE", channel);
    const text = "published messages arrive, so waiters wake at once";
    if (!isMissing(left)) return { name, verdict: "good", text };
    const still = "without UNSUBSCRIBE, processes still receive messages when a wait has ended";
    return { name, verdict: "note", text: `${text}; ${still}`, ...remedyOf(left) };
  } finally {
    connection.close();
  }
}

function isOfChannel(reply: unknown): reply is ServerError {
  return reply instanceof ServerError && /^NOPERM\b.*\bchannel/i.test(reply.message);
}

/** A store asks for all its channels at once, so it has none when one of them is refused. */
function withoutChannels(forbidden: ReadonlyMap<string, ServerError>, prefix: string): Check {
  const patterns = [...forbidden.keys()].map((family) => `${family}${prefix}*`);
  const structures = list([...forbidden.keys()].map((family) => CHANNEL_FAMILIES[family]!));
  const verdict = "degraded";
  const text = `channels ${list(patterns)} are forbidden. Once a ${structures} waits, all waiters of its store poll: ${POLLS}`;
  const facts = { reply: [...forbidden.values()][0]!.message };
  return { name, verdict, text, rules: patterns.map((pattern) => `&${pattern}`), facts };
}

function refused(error: ServerError, result: string): Check {
  return {
    name,
    verdict: "degraded",
    text: `${wordsOf(error)}: ${result}`,
    ...remedyOf(error),
    facts: { reply: error.message },
  };
}
