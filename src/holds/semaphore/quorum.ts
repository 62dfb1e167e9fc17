import type { RedlockMutex } from "redis-semaphore";
import { abortable } from "../../base/async/aborts.ts";
import { type Deferred, deferred } from "../../base/async/deferred.ts";
import { leaseClock } from "../../base/async/lease-clock.ts";
import { within } from "../../base/async/within.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import { Site } from "../../base/site.ts";
import { warn } from "../../base/warn.ts";
import { defaults } from "../../store/delivery/script-store.ts";
import { reasonOf } from "../../store/health/reason.ts";
import { keyOf } from "../../store/keys.ts";
import { HeldLock, type HoldSource } from "../held.ts";
import type { HoldRequest } from "../lock-calls.ts";
import { newToken, provenUntil } from "../waiters.ts";

/** A client that redis-semaphore takes: of ioredis, for one server. */
export type QuorumClient = ConstructorParameters<typeof RedlockMutex>[0][number];

/** One lock or semaphore of redis-semaphore, for one call of `tryAcquire` or `release`. */
export type Library = (
  clients: QuorumClient[],
  options: NonNullable<ConstructorParameters<typeof RedlockMutex>[2]>,
) => Pick<RedlockMutex, "tryAcquire" | "release">;

type Action = "acquire" | "extend" | "release";

/** Callers that ask several servers at once may all get a minority. Pauses of 25 to 75 ms let one of them win. */
const SPLIT_MS = 50;
/** The process is warned about a failing server at most once in this time. */
const QUIET_MS = 60_000;

const now = leaseClock();
const warnedAtMs = new WeakMap<QuorumClient, number>();

/** The place of a structure on several servers. Throws ARGUMENT for wrong clients or a wrong name. */
export function siteOfClients(structure: string, clients: readonly QuorumClient[], name: string): Site {
  const site = new Site(structure, name);
  return site.checked(undefined, () => {
    const isClient = (each: QuorumClient | undefined) => typeof each?.evalsha === "function";
    if (!Array.isArray(clients) || clients.length < 2 || !clients.every(isClient))
      throw argumentError("clients", clients, "an array of at least 2 clients of ioredis, each of another server");
    if (new Set(clients).size < clients.length)
      throw argumentError("clients", clients, "clients of different servers; one is there twice");
    if (name === "") throw argumentError("name", name, "a string that is not empty");
    keyOf("", name);
    return site;
  });
}

/** The votes of all servers on one call of redis-semaphore: the first answer of each. */
class Ballot {
  readonly decided: Deferred<void> = deferred();
  readonly #clients: readonly QuorumClient[];
  readonly #majority: number;
  readonly #failures: string[] = [];
  #cause: unknown;
  #yes = 0;
  #no = 0;
  /** A server did not know the script. The library has sent it the text, perhaps after a later command. */
  isSentAgain = false;

  constructor(clients: readonly QuorumClient[]) {
    this.#clients = clients;
    this.#majority = Math.floor(clients.length / 2) + 1;
  }

  get isGranted(): boolean {
    return this.#yes >= this.#majority;
  }

  get isRefused(): boolean {
    return this.#no > this.#clients.length - this.#majority;
  }

  /** Whether a server may have the hold. */
  get mayBeHeld(): boolean {
    return this.#no < this.#clients.length;
  }

  /** The clients that redis-semaphore gets. Each passes the commands on, and counts the answer as a vote. */
  voters(): QuorumClient[] {
    return this.#clients.map((client) => {
      let hasVoted = false;
      const vote = async (answer: Promise<unknown>) => {
        const outcome = await within(answer, defaults.deadlineMs);
        if (hasVoted) return;
        if (outcome.kind === "failed" && String(outcome.error).includes("NOSCRIPT")) {
          this.isSentAgain = true;
          return;
        }
        hasVoted = true;
        if (outcome.kind === "done") this.#count(outcome.value === "OK" || Number(outcome.value) > 0);
        else if (outcome.kind === "failed") this.#fail(outcome.error, client);
        else this.#fail(new Error(`no answer within ${defaults.deadlineMs} ms`), client);
      };
      return new Proxy(client, {
        get(target, property) {
          const member = Reflect.get(target, property);
          if (typeof member !== "function") return member;
          return (...args: unknown[]) => {
            const answer = new Promise((resolve) => resolve(member.apply(target, args)));
            void vote(answer);
            return answer;
          };
        },
      });
    });
  }

  /** Why there is no result. */
  error(): OrielError {
    const answered = this.#yes + this.#no;
    const text = `${answered} of ${this.#clients.length} servers answered, and ${this.#majority} must agree: ${this.#failures.join("; ")}`;
    return new OrielError("UNAVAILABLE", text, { cause: this.#cause, transient: true, applied: "unknown" });
  }

  #count(isYes: boolean): void {
    if (isYes) this.#yes++;
    else this.#no++;
    this.#decide();
  }

  #fail(error: unknown, client: QuorumClient): void {
    const { host, port, path = `${host}:${port}` } = client.options ?? {};
    const text = `${reasonOf(error)?.text ?? (error as Error).message} (redis at ${path})`;
    this.#cause ??= error;
    this.#failures.push(text);
    // No warning about a client that its owner has closed.
    if ((client as { status?: string }).status !== "end") warnOf(client, text);
    this.#decide();
  }

  #decide(): void {
    const left = this.#clients.length - this.#yes - this.#no - this.#failures.length;
    const mayAgree = this.#yes + left >= this.#majority || this.#no + left > this.#clients.length - this.#majority;
    if (this.isGranted || this.isRefused || !mayAgree) this.decided.resolve();
  }
}

/** The callers of this process that want one lock or semaphore of several servers. They try one after another, in order of arrival. */
export class Quorum {
  readonly #clients: readonly QuorumClient[];
  readonly #at: Site;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #released: Deferred<void> = deferred();

  constructor(clients: readonly QuorumClient[], at: Site) {
    this.#clients = [...clients];
    this.#at = at;
  }

  /** Resolves with null if it was not granted for all of the wait. Rejects if too few servers answer until then. */
  async hold(request: HoldRequest, what: string, library: Library): Promise<HeldLock<null> | null> {
    const { waitMs, signal } = request;
    if (waitMs === 0 && this.#waiting > 0) return null;
    const endMs = now() + waitMs;
    const turn = deferred();
    const before = this.#last;
    if (waitMs > 0) {
      this.#last = before.then(() => turn.promise);
      this.#waiting++;
    }
    try {
      if (waitMs > 0 && (await abortable(within(before, waitMs), signal)).kind === "late") return null;
      for (;;) {
        // Taken before the attempt: after a release that comes during it, the next attempt begins at once.
        const released = this.#released.promise;
        const attempt = this.#attempt(request, what, library);
        const outcome = await abortable(attempt, signal).catch((error) => {
          attempt.then((late) => late instanceof HeldLock && late.release()).catch(() => {});
          throw error;
        });
        if (outcome instanceof HeldLock) return outcome;
        const leftMs = endMs - now();
        if (leftMs <= 0 && !outcome.isRefused) throw outcome.error();
        if (leftMs <= 0) return null;
        const pauseMs = Math.min(leftMs, SPLIT_MS * (0.5 + Math.random()));
        await abortable(within(released, pauseMs), signal);
      }
    } finally {
      turn.resolve();
      if (waitMs > 0) this.#waiting--;
    }
  }

  /** One attempt, with an identifier of its own. Resolves with the votes if the majority has not granted it. */
  async #attempt(
    { leaseMs, isWatched }: HoldRequest,
    what: string,
    library: Library,
  ): Promise<HeldLock<null> | Ballot> {
    const identifier = newToken();
    const ask = (action: Action, ms = leaseMs) => this.#ask(library, action, identifier, ms);
    const provenUntilMs = provenUntil(now(), leaseMs);
    const { ballot, ended } = await ask("acquire");
    if (!ballot.isGranted || now() >= provenUntilMs) {
      // redis-semaphore leaves the permits of a refused RedlockMultiSemaphore where they were granted.
      void within(ended, defaults.deadlineMs).then((): unknown => ballot.mayBeHeld && ask("release"));
      return ballot;
    }
    let extending: Promise<unknown> | undefined;
    let released: Promise<unknown> | undefined;
    // A server that got the text of the script may have run it after the release.
    const releaseAgain = (ballot: Ballot, ended: Promise<unknown>) =>
      void ended.finally((): unknown => ballot.isSentAgain && released?.then((): unknown => ask("release")));
    releaseAgain(ballot, ended);
    const hold: HoldSource<null> = {
      ...{ fence: null, leaseMs, provenUntilMs, leaseClock: now, what },
      // redis-semaphore releases a hold that the majority did not renew, once all servers have answered. Here it is released at once.
      async extend(ms) {
        const asked = ask("extend", ms);
        extending = asked;
        const { ballot, ended } = await asked;
        if (!ballot.isGranted) released = ask("release");
        releaseAgain(ballot, ended);
        return ballot.isGranted;
      },
      async release() {
        // If it is sent as text and the release is not, a server would run it after the release.
        await Promise.allSettled([extending]);
        const asked = ask("release");
        released = asked;
        const { ballot } = await asked;
        if (!ballot.isGranted && !ballot.isRefused) throw ballot.error();
        return ballot.isGranted;
      },
    };
    return new HeldLock(hold, isWatched, this.#at);
  }

  /** Resolves when the majority has decided. The library goes on, for the servers that have not answered. */
  async #ask(library: Library, action: Action, identifier: string, leaseMs: number) {
    const ballot = new Ballot(this.#clients);
    const lock = library(ballot.voters(), {
      identifier,
      lockTimeout: Math.ceil(leaseMs),
      // `HeldLock` renews the hold, and `hold` tries again.
      refreshInterval: 0,
      retryInterval: 0,
      acquireTimeout: Number.MAX_SAFE_INTEGER,
      acquireAttemptsLimit: 1,
      ...(action !== "acquire" && { acquiredExternally: true as const }),
    });
    const ended: Promise<unknown> = action === "release" ? lock.release() : lock.tryAcquire();
    await Promise.race([ballot.decided.promise, ended]);
    if (action === "release") {
      this.#released.resolve();
      this.#released = deferred();
    }
    return { ballot, ended };
  }
}

/** No call rejects while the majority answers, so a failure would stay unknown until another server fails too. */
function warnOf(client: QuorumClient, text: string): void {
  const nowMs = performance.now();
  if (nowMs - (warnedAtMs.get(client) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
  warnedAtMs.set(client, nowMs);
  warn(`one of several servers fails, and locks continue without it: ${text}`, "UNAVAILABLE");
}
