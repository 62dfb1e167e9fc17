import { safeText } from "../../text/safe-text.ts";

/** Without control characters, bounded. */
export function safe(text: string, longest: number): string {
  return safeText(text, longest).replace(/\p{Surrogate}|\ufffe|\uffff/gu, "\ufffd");
}

/** Text for an XML element or attribute: escaped, bounded, and without characters that XML forbids. */
export function xmlText(text: string, longest = 80): string {
  return safe(text, longest).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
