import { warn } from "../warn.ts";

/** Middleware that has warned, with the first words of its warning. */
const warned = new Set<string>();

/** Warns that requests of several clients look the same: once in this process for each middleware and reason. */
export function warnOnce(name: string, reason: string): void {
  const kind = `${name} ${reason.replace(/".*"/s, "")}`;
  if (warned.has(kind)) return;
  warned.add(kind);
  warn(`${name}: ${reason}; all such requests count as one client; pass a key of each client`);
}
