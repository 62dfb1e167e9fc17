import { OrielError } from "../../errors.ts";
import type { SinkCallOptions } from "./sink.ts";
import { Stop } from "./stop.ts";

/** A connection of the user's pool while a transaction has it. */
export interface Session {
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Gives it back to the pool, as it was. */
  release(): Promise<unknown>;
  /** Closes it at once, whatever it is doing; it never comes back to the pool. */
  destroy(): void;
}

/** What an error of a driver means: the call's time is over, it may succeed later, it will fail again. */
export type Failure = "late" | "transient" | "permanent";

export interface Database<S extends Session> {
  /** Takes a connection; where it fails, none is taken. */
  open(): Promise<S>;
  failure(error: unknown): Failure;
}

/**
 * Runs `work` and COMMIT in one transaction of one connection, which `work` begins. Where it fails before COMMIT was
 * sent, it is rolled back ("no"); a COMMIT without answer may have happened ("unknown"). A connection goes back to the
 * pool only if its transaction has ended for certain.
 */
export async function transact<S extends Session, T>(
  what: string,
  database: Database<S>,
  limits: SinkCallOptions,
  work: (session: S, leftMs: number) => Promise<T>,
): Promise<T> {
  const stop = new Stop(what, limits);
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

async function giveBack(session: Session, stop: Stop): Promise<void> {
  try {
    await stop.race(session.release());
  } catch {
    session.destroy();
  }
}

async function rollBack(session: Session, stop: Stop): Promise<void> {
  try {
    await stop.race(session.rollback());
    await stop.race(session.release());
  } catch {
    session.destroy();
  }
}

/** The OrielError of what a driver threw; `cause` is the driver's own. */
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
