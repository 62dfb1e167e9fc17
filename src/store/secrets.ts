const HIDDEN = "***";
const DEEPEST = 4;

/** Text without these secrets, as they are and as URLs, JSON and base64 have them. */
export function redacted(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) for (const form of formsOf(secret)) clean = clean.replaceAll(form, HIDDEN);
  return clean;
}

/**
 * A copy of a client's error that is safe to print: name, message, code and causes, without secrets and other
 * properties. ioredis keeps the command that failed, with its arguments, in its errors: of AUTH that is the password.
 */
export function withoutSecrets(error: unknown, secrets: readonly string[], depth = 0): Error {
  const { name, message, code, cause, errors, lastNodeError } = (error ?? {}) as Record<string, unknown>;
  const text = redacted(typeof message === "string" ? message : String(error), secrets);
  // Of several nodes the first, of a cluster of ioredis the last that was asked.
  const inner = cause ?? lastNodeError ?? (Array.isArray(errors) ? errors[0] : undefined);
  const copy = new Error(
    text,
    inner instanceof Error && depth < DEEPEST ? { cause: withoutSecrets(inner, secrets, depth + 1) } : undefined,
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
    // A lone surrogate, or text beyond Latin-1, has no such form.
  }
  return forms;
}
