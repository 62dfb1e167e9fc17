const HIDDEN = "***";
const MAX_DEPTH = 4;

/** Replaces secrets in a text by ***. It finds them unchanged, URL-encoded, JSON-escaped and in base64. */
export function redacted(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) for (const form of formsOf(secret)) clean = clean.replaceAll(form, HIDDEN);
  return clean;
}

/**
 * Copies a client's error so that it is safe to print: name, message, code and causes, without secrets and other
 * properties. ioredis keeps the failed command and its arguments in its errors. For AUTH they include the password.
 */
export function withoutSecrets(error: unknown, secrets: readonly string[], depth = 0): Error {
  const { name, message, code, cause, errors, lastNodeError } = (error ?? {}) as Record<string, unknown>;
  const text = redacted(typeof message === "string" ? message : String(error), secrets);
  // `errors` is of an AggregateError, `lastNodeError` of an ioredis cluster.
  const inner = cause ?? lastNodeError ?? (Array.isArray(errors) ? errors[0] : undefined);
  const copy = new Error(
    text,
    inner instanceof Error && depth < MAX_DEPTH ? { cause: withoutSecrets(inner, secrets, depth + 1) } : undefined,
  );
  if (typeof name === "string" && name !== "Error")
    Object.defineProperty(copy, "name", { value: name, enumerable: false });
  return typeof code === "string" ? Object.assign(copy, { code: redacted(code, secrets) }) : copy;
}

function formsOf(secret: string): string[] {
  if (secret === "") return [];
  const forms = [secret, JSON.stringify(secret).slice(1, -1)];
  try {
    forms.push(encodeURIComponent(secret), btoa(secret));
  } catch {
    // encodeURIComponent rejects lone surrogates, btoa rejects text beyond Latin-1.
  }
  return forms;
}
