import { safeText } from "../row.ts";

/** Text that may stand in XML, in an element or between double quotes: escaped, without what XML forbids, bounded. */
export function xmlText(text: string, longest = 80): string {
  return safeText(text, longest)
    .replace(/\p{Surrogate}|\ufffe|\uffff/gu, "\ufffd")
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
