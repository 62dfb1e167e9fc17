import { show } from "../base/errors.ts";

const MAX_CAUSES = 10;

/**
 * Thrown by a handler if no further delivery can succeed: the message moves to the dead letters at once, with this
 * error as the reason. The same holds for an error that has it as its `cause`, or as the cause of its cause, up to ten
 * errors deep. It is known by its property `doNotRetry`, so an error of another copy of oriel counts, and so does your
 * own error with `doNotRetry: true`.
 */
export class DoNotRetryError extends Error {
  static {
    Object.defineProperty(DoNotRetryError, "name", { value: "DoNotRetryError" });
  }

  override readonly name: string = "DoNotRetryError";
  readonly doNotRetry = true;

  /** `message` is the reason. */
  constructor(message?: string, options?: { cause?: unknown }) {
    super(message === undefined || typeof message === "string" ? message : show(message), options);
  }
}

/** The error that says so: the thrown one, or one of its causes. */
export function doNotRetryOf(thrown: unknown): unknown {
  return causeOf(thrown, (error) => error.doNotRetry === true);
}

interface Thrown {
  doNotRetry?: unknown;
  name?: unknown;
  cause?: unknown;
}

/** The first that holds: the thrown object, its cause, the cause of that, and so on. A getter that throws ends the search. */
export function causeOf(thrown: unknown, holds: (error: Thrown) => boolean): unknown {
  try {
    let error = thrown as Thrown | null | undefined;
    for (let i = 0; i <= MAX_CAUSES && typeof error === "object" && error !== null; i++) {
      if (holds(error)) return error;
      error = error.cause as Thrown | null | undefined;
    }
  } catch {
    // A getter or a proxy has thrown, so the object is unknown.
  }
  return undefined;
}
