import { ServerError } from "../../store/delivery/client.ts";
import { slotOf } from "../../store/keys.ts";
import { FIRST_LINE_REFUSED } from "../../store/redis/scripting.ts";
import { type Check, isMissing, list, patternOf, remedyOf, rulesOf, wordsOf } from "./check.ts";
import type { Asker } from "./connection.ts";

/** The largest command that oriel sends: a batch of 256 keys, with 7 arguments each. */
export const NEEDED_ARGUMENTS = 3 + 256 * (1 + 7);
/** EVAL, a script, the number of keys, and a key. */
const FEWEST_ARGUMENTS = 4;
/** The probe asks for no more. */
const PROBED_ARGUMENTS = 10_000;

/** Checks what scripts may do. Each call has a key, because some servers refuse others. `key` is a key of the probe in a slot that the server has. */
export async function scriptsChecks(asker: Asker, key: string, isCluster: boolean): Promise<Check[]> {
  const scripts = await script(asker, key);
  if (scripts.verdict === "unusable") return [scripts];
  return [scripts, await undeclared(asker, key), await slots(asker, key, isCluster), await functions(asker, key)];
}

/** Runs a script. A user may have the right to EVALSHA only, as steps are loaded first. */
async function evaluate(asker: Asker, text: string, ...words: string[]): Promise<unknown> {
  const reply = await asker.ask("EVAL", text, ...words);
  if (!(reply instanceof ServerError && /^NOPERM .*\beval\b/i.test(reply.message))) return reply;
  const sha = await asker.ask("SCRIPT", "LOAD", text);
  return sha instanceof ServerError ? reply : asker.ask("EVALSHA", String(sha), ...words);
}

/** The commands that run steps, as far as the server refuses them. Over HTTP a step is sent whole if it is unknown. */
export async function refusedScripting(asker: Asker, key: string): Promise<Map<string, ServerError>> {
  const probes = new Map([["EVALSHA", ["EVALSHA", "0".repeat(40), "1", key]]]);
  if (asker.connection.subscribe) probes.set("SCRIPT LOAD", ["SCRIPT", "LOAD", "return 1"]);
  else probes.set("EVAL", ["EVAL", "return 1", "1", key]);
  const refused = new Map<string, ServerError>();
  for (const [command, words] of probes) {
    const reply = await asker.ask(...words);
    if (isMissing(reply) && !/\bkey/i.test(reply.message)) refused.set(command, reply);
  }
  return refused;
}

async function script(asker: Asker, key: string): Promise<Check> {
  const name = "scripts";
  const refused = await refusedScripting(asker, key);
  const [reason] = refused.values();
  if (reason) {
    const text = `the server refuses ${list([...refused.keys()])}, which every step needs: ${wordsOf(reason)}`;
    const rules = rulesOf([...refused.values()]);
    return { name, verdict: "unusable", text, ...(rules.length > 0 ? { rules } : remedyOf(reason)) };
  }
  const first = await evaluate(asker, "#!lua\nreturn _VERSION", "1", key);
  const hasOtherForm = first instanceof ServerError && FIRST_LINE_REFUSED.test(first.message);
  const reply = hasOtherForm ? await evaluate(asker, "return _VERSION", "1", key) : first;
  if (reply instanceof ServerError) {
    const text = `the server refuses to run scripts that begin with #!lua: ${wordsOf(reply)}`;
    return {
      name,
      verdict: "unusable",
      text,
      advice: "Use Redis 7 or later, or Valkey.",
      ...remedyOf(reply, patternOf(key)),
    };
  }
  const text = `scripts run in ${reply}${hasOtherForm ? ", without their first line #!lua" : ""}`;
  return { name, verdict: "good", text, facts: { lua: reply } };
}

/** Reads a key that the script does not declare, in the slot of the declared one. */
async function undeclared(asker: Asker, key: string): Promise<Check> {
  const name = "undeclared";
  const reply = await evaluate(asker, "return redis.call('EXISTS', ARGV[1])", "1", key, `${key}:undeclared`);
  if (!(reply instanceof ServerError)) {
    const text = "scripts may read keys that they do not declare";
    return { name, verdict: "good", text, facts: { allowed: true } };
  }
  const declared = await evaluate(asker, "return redis.call('EXISTS', KEYS[1])", "1", key);
  if (declared instanceof ServerError)
    return { name, verdict: "unknown", text: `scripts may not read their own key either: ${wordsOf(declared)}` };
  return {
    name,
    verdict: "note",
    text: "scripts may not read keys that they do not declare; a series then reads old chunks in a second request",
    facts: { allowed: false, reply: reply.message },
  };
}

/** Runs a script over keys of two slots. */
async function slots(asker: Asker, key: string, isCluster: boolean): Promise<Check> {
  const name = "slots";
  const other = otherSlot(key);
  const reply = await evaluate(asker, "return 1", "2", key, other);
  const isRefused = reply instanceof ServerError && /CROSSSLOT|same slot|different slots/i.test(reply.message);
  const facts = { oneSlotPerScript: isRefused };
  if (isCluster) return { name, verdict: "good", text: "a cluster: one script call for each slot", facts };
  if (reply instanceof ServerError && !isRefused)
    return { name, verdict: "unknown", text: `a script with a key of another slot is refused: ${wordsOf(reply)}` };
  if (!isRefused) return { name, verdict: "good", text: "one script call may have keys of several slots", facts };
  return {
    name,
    verdict: "note",
    text: "the server refuses scripts over keys of several slots; oriel then sends one script call for each slot",
    facts,
  };
}

function otherSlot(key: string): string {
  const bare = key.replace(/[{}]/g, "");
  const others = Array.from({ length: 8 }, (_, i) => `${bare}:${i}`);
  return others.find((other) => slotOf(other) !== slotOf(key))!;
}

/** Asks for a function that does not exist, and loads a library that no server accepts. */
async function functions(asker: Asker, key: string): Promise<Check> {
  const name = "functions";
  const replies = [
    await asker.ask("FCALL", "oriel_doctor", "1", key),
    await asker.ask("FUNCTION", "LOAD", "no library"),
  ];
  const refused = replies.find(isMissing);
  if (!refused)
    return { name, verdict: "good", text: 'scripting: "functions" is available', facts: { available: true } };
  return {
    name,
    verdict: "note",
    text: `no functions (${wordsOf(refused)}); scripting: "eval", the default, does not use them`,
    facts: { available: false },
  };
}

/**
 * Finds the largest number of arguments by commands that change nothing. `another` opens a connection, because a server
 * may close the one that exceeds its bound.
 */
export async function argumentsCheck(key: string, another: () => Asker): Promise<Check> {
  const name = "arguments";
  const send = async (count: number) => {
    const asker = another();
    try {
      return await evaluate(asker, "return 1", "1", key, ...new Array<string>(count - FEWEST_ARGUMENTS).fill("0"));
    } finally {
      asker.connection.close();
    }
  };
  const fewest = await send(FEWEST_ARGUMENTS);
  if (fewest instanceof ServerError)
    return { name, verdict: "unknown", text: `not measured, because scripts are refused: ${wordsOf(fewest)}` };
  const accepts = (count: number) =>
    send(count).then(
      (reply) => !(reply instanceof ServerError),
      () => false,
    );
  if (await accepts(PROBED_ARGUMENTS)) {
    const text = `one command may have ${PROBED_ARGUMENTS} arguments; oriel sends at most ${NEEDED_ARGUMENTS}`;
    return { name, verdict: "good", text, facts: { atLeast: PROBED_ARGUMENTS } };
  }
  let [accepted, refused] = [FEWEST_ARGUMENTS, PROBED_ARGUMENTS];
  while (refused - accepted > 1) {
    const middle = (accepted + refused) >> 1;
    if (await accepts(middle)) accepted = middle;
    else refused = middle;
  }
  const text = `one command may have at most ${accepted} arguments; oriel sends up to ${NEEDED_ARGUMENTS}`;
  const facts = { atMost: accepted };
  if (accepted >= NEEDED_ARGUMENTS) return { name, verdict: "note", text, facts };
  return { name, verdict: "degraded", text, advice: "Make fewer calls in one turn of the event loop.", facts };
}
