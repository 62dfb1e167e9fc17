import { safeText } from "../row.ts";

/** Text for an XML element or attribute: escaped, bounded, and without characters that XML forbids. */
export function xmlText(text: string, longest = 80): string {
  return safeText(text, longest)
    .replace(/\p{Surrogate}|\ufffe|\uffff/gu, "\ufffd")
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
