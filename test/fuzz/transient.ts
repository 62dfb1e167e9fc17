/** Nothing that lies in a healthy store may look like a store that fails. */
export function isTransient(code: string): boolean {
  return ["UNAVAILABLE", "DEADLINE", "OVERLOADED", "KERNEL", "ARGUMENT"].includes(code);
}
