import { isEdgeRuntime } from "./async/edge-runtime.ts";

type Emit = (text: string, options: { type: string; code: string | undefined }) => void;

/** Emits a process warning, or prints it without a process. */
export function warn(text: string, code?: string): void {
  const { process } = globalThis as { process?: { emitWarning?: Emit } };
  if (typeof process?.emitWarning === "function" && !isEdgeRuntime)
    process.emitWarning(text, { type: "OrielWarning", code });
  else console.warn(`OrielWarning: ${text}`);
}
