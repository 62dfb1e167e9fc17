import { Coalescer } from "../../base/async/coalescer.ts";
import { atTurnsEnd } from "../../base/async/gathering.ts";
import { endsWithRequest, lostAfterMs } from "../../base/async/of-request.ts";
import { pause } from "../../base/async/timers.ts";
import { within } from "../../base/async/within.ts";
import type { Script } from "../contract.ts";
import { Aged } from "../delivery/aged.ts";
import type { ScriptClient } from "../delivery/client.ts";
import { isAnswer } from "../health/probe.ts";
import { ServerHealth } from "../health/server-health.ts";
import { wellFormed } from "./ascii.ts";
import { HttpCommand } from "./http-command.ts";
import { type Fetch, type HttpServer, sendCommands } from "./http-request.ts";

/** Largest request. Databases of Upstash's smaller plans refused 1 MB and more. */
const MAX_REQUEST_BYTES = 960_000;
/** Largest size of keys and arguments of one script call. Encoded, they are a third larger. */
const MAX_CALL_BYTES = 640 * 1024;
/** Servers of Upstash. Others are asked whether they take its flag. */
const UPSTASH = /^https:\/\/[^/]+\.upstash\.io(?:[:/]|$)/;
/** The answer of a server that does not know Upstash's flag. The step is then sent in another form. */
const FLAG_REFUSED = /flag.*: allow-key-locking/;
/** Longest wait after a Retry-After. */
const MAX_REST_MS = 60_000;
const REST_STEP_MS = 100;

/**
 * The adapter for Redis over HTTP. Calls of one turn are sent in one request, in order, or in several requests one
 * after the other, because concurrent requests may overtake each other. A script is assumed to be in the server's
 * cache. If the server says that it is not, the next call has its text.
 */
export function httpClient(server: HttpServer, deadlineMs: number): ScriptClient {
  const missing = new Set<Script>();
  const unanswered = new Aged<HttpCommand>();
  let unansweredBytes = 0;
  let restUntilMs = Number.NEGATIVE_INFINITY;
  let lastError: unknown;
  const health = healthOf(server, deadlineMs);

  /** The SHA-1s that are computed for earlier commands. Later ones do not overtake them, except in Workers. */
  let learning: Promise<unknown> | undefined;
  const sendAll = async (commands: readonly HttpCommand[]) => {
    const before = endsWithRequest ? [] : (learning ?? []);
    const needed = [before, ...commands.map((command) => command.learn() ?? [])].flat();
    if (needed.length > 0) {
      const learned = Promise.all(needed);
      learning = learned;
      await learned;
      if (learning === learned) learning = undefined;
    }
    for (const together of requestsOf(commands)) {
      const retryAfterMs = await sendCommands(server, together);
      if (retryAfterMs > 0) restUntilMs = performance.now() + Math.min(retryAfterMs, MAX_REST_MS);
    }
  };
  const coalescer = new Coalescer<HttpCommand[]>({
    schedule: atTurnsEnd,
    begin: () => [],
    send: (commands) => void sendAll(commands),
  });
  const forget = (command: HttpCommand) => {
    unansweredBytes -= command.sizeBytes;
  };
  const forgetLost = () => unanswered.takeOlderThan(lostAfterMs(deadlineMs)).forEach(forget);
  const send = (command: HttpCommand): HttpCommand => {
    forgetLost();
    coalescer.open().push(command);
    unanswered.add(command);
    unansweredBytes += command.sizeBytes;
    command.reply.then(
      () => {
        lastError = undefined;
      },
      (error) => {
        lastError = isAnswer(error) ? undefined : error;
      },
    );
    command.whenEnded(() => {
      if (unanswered.delete(command)) forget(command);
    });
    return command;
  };

  return {
    mayResend: true,
    address: server.url,
    health,
    whyNoReplicas: "over HTTP, where WAIT has no connection of its own",
    maxBytes: MAX_CALL_BYTES,
    get lastError() {
      return lastError;
    },
    get unansweredBytes() {
      forgetLost();
      return unansweredBytes;
    },
    whenReady() {
      const restMs = restUntilMs - performance.now();
      return restMs > 0 ? pause(Math.min(restMs, REST_STEP_MS)) : undefined;
    },
    call(script: Script, keys, args, _confirmation, hasText = false) {
      const isWhole = missing.delete(script) || hasText;
      // An unknown server is offered the flag with the first text that it needs.
      const isLocking = health.locksKeys ?? isWhole;
      const command = send(HttpCommand.ofScript(script, keys, args, isWhole, isLocking));
      if (isLocking)
        command.reply.then(
          () => {
            health.locksKeys = true;
          },
          ({ message }: Error) => {
            if (FLAG_REFUSED.test(message)) health.locksKeys = false;
          },
        );
      return command;
    },
    forget(script) {
      missing.add(script);
      return undefined;
    },
    exists(key) {
      const command = send(HttpCommand.of("EXISTS", wellFormed(key)));
      return { reply: command.reply, abandon: () => command.abandon() };
    },
    async info(section) {
      // Stores that are made for each request would ask each time.
      if (health.infoSections.has(section)) return [];
      const command = send(HttpCommand.of("INFO", section));
      const outcome = await within<unknown>(command.reply, deadlineMs);
      command.abandon();
      if (outcome.kind === "done" || (outcome.kind === "failed" && isAnswer(outcome.error)))
        health.infoSections.add(section);
      return outcome.kind === "done" ? [new TextDecoder().decode(outcome.value as Uint8Array)] : [];
    },
    async close() {
      for (const command of unanswered.all) command.settle(new Error("the store was closed"));
    },
  };
}

/** Splits commands into requests, in order, each as large as allowed. A larger command is sent alone. */
function requestsOf(commands: readonly HttpCommand[]): HttpCommand[][] {
  const requests: HttpCommand[][] = [];
  let sizeBytes = Number.POSITIVE_INFINITY;
  for (const command of commands) {
    if (sizeBytes + command.sizeBytes > MAX_REQUEST_BYTES) {
      requests.push([]);
      sizeBytes = 0;
    }
    requests.at(-1)!.push(command);
    sizeBytes += command.sizeBytes;
  }
  return requests;
}

/** Largest number of remembered servers for one `fetch`. */
const MAX_SERVERS = 256;

const knownServers = new WeakMap<Fetch, Map<string, ServerHealth>>();

/**
 * Returns the health of a server. All stores with the same `fetch`, URL, token and deadline share it. Workers make a
 * store for each request, and each store alone would need a whole deadline to notice an outage.
 */
function healthOf({ fetch, url, token }: HttpServer, deadlineMs: number): ServerHealth {
  const servers = knownServers.get(fetch) ?? new Map<string, ServerHealth>();
  knownServers.set(fetch, servers);
  const name = `${deadlineMs} ${url} ${token}`;
  let health = servers.get(name);
  if (!health) {
    if (servers.size >= MAX_SERVERS) for (const [each, { outage }] of servers) if (!outage) servers.delete(each);
    health = new ServerHealth(url);
    if (UPSTASH.test(url)) health.locksKeys = true;
    servers.set(name, health);
  }
  return health;
}
