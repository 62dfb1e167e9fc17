/** No data in a healthy store may look like a failing store. */
export function isTransient(code: string): boolean {
  return ["UNAVAILABLE", "DEADLINE", "OVERLOADED", "KERNEL", "ARGUMENT"].includes(code);
}
