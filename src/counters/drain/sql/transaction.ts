import { OrielError } from "../../../base/errors.ts";
import { CallDeadline } from "./call-deadline.ts";
import type { SinkCallOptions } from "./sink.ts";

/** A connection of the user's pool, in use by one transaction. */
export interface Session {
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Restores its settings and returns it to the pool. */
  release(): Promise<unknown>;
  /** Closes it at once, even during a statement. It never returns to the pool. */
  destroy(): void;
}

/** The meaning of a driver's error: out of time ("late"), may succeed later, or will fail again. */
export type Failure = "late" | "transient" | "permanent";

export interface Database<S extends Session> {
  /** Takes a connection from the pool. If it rejects, none is taken. */
  open(): Promise<S>;
  failure(error: unknown): Failure;
}

/**
 * Runs `work` and COMMIT in one transaction, which `work` begins. A failure before COMMIT is rolled back (`applied`
 * "no"). A COMMIT without an answer may have succeeded ("unknown"). A connection returns to the pool only if its
 * transaction has certainly ended.
 */
export async function transact<S extends Session, T>(
  what: string,
  database: Database<S>,
  limits: SinkCallOptions,
  work: (session: S, leftMs: number) => Promise<T>,
): Promise<T> {
  const stop = new CallDeadline(what, limits);
  let applied: "no" | "unknown" = "no";
  let session: S | undefined;
  try {
    if (stop.reason) throw stop.reason;
    session = await stop.race(database.open(), (late) => {
      late.release().catch(() => late.destroy());
    });
    const value = await stop.race(work(session, stop.leftMs));
    applied = "unknown";
    await stop.race(session.commit());
    applied = "no";
    await giveBack(session, stop);
    return value;
  } catch (error) {
    if (session) {
      if (stop.reason || applied === "unknown") session.destroy();
      else await rollBack(session, stop);
    }
    throw explain(what, error, database.failure, applied);
  } finally {
    stop.close();
  }
}

async function giveBack(session: Session, stop: CallDeadline): Promise<void> {
  try {
    await stop.race(session.release());
  } catch {
    session.destroy();
  }
}

async function rollBack(session: Session, stop: CallDeadline): Promise<void> {
  try {
    await stop.race(session.rollback());
    await stop.race(session.release());
  } catch {
    session.destroy();
  }
}

/** Converts a driver's error to an OrielError, with the original as `cause`. */
export function explain(
  what: string,
  error: unknown,
  failure: (error: unknown) => Failure,
  applied: "no" | "unknown",
): OrielError {
  if (error instanceof OrielError) {
    if (error.applied === applied) return error;
    return new OrielError(error.code, error.message, { cause: error.cause, transient: error.transient, applied });
  }
  const kind = applied === "unknown" ? "transient" : failure(error);
  const text = error instanceof Error ? error.message : String(error);
  return new OrielError(kind === "late" ? "DEADLINE" : "UNAVAILABLE", `the database failed in "${what}": ${text}`, {
    cause: error,
    transient: kind !== "permanent",
    applied,
  });
}
