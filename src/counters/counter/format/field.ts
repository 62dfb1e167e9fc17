/**
 * The name of a row in a shard: `<start, minutes since 1970>|<value>|<value>...`. Values are in the order of the
 * dimensions, with "%", "|" and line feeds as % and two hexadecimal digits.
 */
const ESCAPED = /[%|\n]/g;

export function escapeValue(value: string): string {
  return value.replace(ESCAPED, (found) => `%${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function unescapeValue(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The part after the start: a "|" before each value. */
export function valuesText(values: readonly string[]): string {
  return values.map((value) => `|${escapeValue(value)}`).join("");
}

export function readValues(text: string): string[] {
  return text.split("|").slice(1).map(unescapeValue);
}

/** `dimensions`: their number. Values of dimensions that the counting process did not have are empty. */
export function readField(text: string, dimensions = 0): { startMinute: number; values: string[] } {
  const values = readValues(text);
  while (values.length < dimensions) values.push("");
  return { startMinute: Number.parseInt(text, 10), values };
}
