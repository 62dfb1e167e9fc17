import { argumentError, type OrielError } from "../../base/errors.ts";

/** Maximum nesting. Beyond it `JSON.stringify` runs out of stack in some runtimes. */
const DEEPEST = 1000;

/** The error for a payload that JSON cannot represent. It names the path of the first such value. */
export function payloadError(payload: unknown): OrielError {
  return faultIn(payload, "payload", []) ?? argumentError("payload", payload, "a JSON value or bytes");
}

function faultIn(value: unknown, path: string, above: readonly object[]): OrielError | undefined {
  if (typeof value === "bigint")
    return argumentError(shortened(path), value, "a string or a number, because JSON has no bigint");
  if (typeof value !== "object" || value === null) return undefined;
  if (above.includes(value)) return argumentError(shortened(path), value, "a value that does not contain itself");
  if (above.length === DEEPEST) return argumentError("payload", value, `at most ${DEEPEST} objects deep`);
  const within = [...above, value];
  for (const name of Object.keys(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `.${name.slice(0, 60)}`;
    let inner: unknown;
    try {
      inner = (value as Record<string, unknown>)[name];
    } catch {
      return argumentError(shortened(path + step), undefined, "what can be read: its getter throws");
    }
    const fault = faultIn(inner, path + step, within);
    if (fault) return fault;
  }
  return undefined;
}

/** The beginning and the end of a long path. */
function shortened(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 100)}...${path.slice(-97)}`;
}
