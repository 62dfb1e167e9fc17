import { OrielError } from "../errors.ts";

/** The question's own event is in the journal: trying the same call again would record it twice. */
export function afterRecording(error: unknown): unknown {
  if (!(error instanceof OrielError)) return error;
  const { code, message, transient } = error;
  return new OrielError(code, `the event is recorded, its window was not answered: ${message}`, {
    cause: error,
    transient,
    applied: "unknown",
  });
}

export function tooLarge(mostEvents: number, maxResidentBytes: number): OrielError {
  const bound = `${mostEvents} events and the names of their frames, for which maxResidentBytes, ${maxResidentBytes}, has room`;
  return new OrielError("TOO_LARGE", `the window holds more than ${bound}`);
}
