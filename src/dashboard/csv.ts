/** Lines of comma-separated numbers and times. A number that does not exist is an empty field. */
export function csvOf(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return `${[header, ...rows.map((row) => row.map((field) => field ?? ""))].map((row) => row.join(",")).join("\r\n")}\r\n`;
}
