/** Lines of comma-separated values (RFC 4180). A number that does not exist is an empty field. */
export function csvOf(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return [header, ...rows].map((row) => `${row.map(fieldOf).join(",")}\r\n`).join("");
}

function fieldOf(value: string | number | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  // A spreadsheet takes such a text as a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
