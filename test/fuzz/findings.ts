import { OrielError } from "../../src/entries/index.ts";
import type { Subject } from "./subject.ts";
import { isTransient } from "./transient.ts";

/** Longer than any call may take on a busy machine. */
const HANG_MS = 20_000;

export interface Case {
  subject: Subject;
  name: string;
  /** The damaged keys. */
  damaged: readonly string[];
  what: string;
}

/** The findings, each kind once, with the first case that showed it. */
export class Findings {
  readonly #found = new Map<string, { count: number; example: string }>();

  get list(): string[] {
    return [...this.#found].map(([kind, { count, example }]) => `${kind} (${count} times), first: ${example}`);
  }

  add(kind: string, example: string): void {
    const known = this.#found.get(kind);
    if (known) known.count++;
    else this.#found.set(kind, { count: 1, example });
  }

  /** Checks that the call settled, with an answer or an error that names the damage. */
  async watch(each: Case, label: string, call: () => Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, HANG_MS, "late");
    });
    const ended = Promise.resolve()
      .then(call)
      .then(
        () => undefined,
        (error) => this.judge(each, label, error),
      );
    if ((await Promise.race([ended, late])) === "late") this.add(`${each.subject.name}: ${label} hangs`, each.what);
    clearTimeout(timer);
  }

  judge(each: Case, label: string, error: unknown): void {
    const { subject, name, damaged, what } = each;
    const place = `${subject.name}: ${label}`;
    if (!(error instanceof OrielError)) {
      const { name: kind, message } = (error ?? {}) as Error;
      const at = String((error as Error)?.stack)
        .split("\n")
        .find((line) => line.includes("/src/"))
        ?.trim();
      this.add(`${place} rejects with ${kind}: ${plain(message, name)}`, `${what} ${at ?? ""}`);
      return;
    }
    const { code, message } = error;
    // A key may say that others hold the lock or the permits.
    if (code === "DEADLINE" && /not free within|free within|others held/.test(message)) return;
    if (isTransient(code)) this.add(`${place} rejects with ${code}: ${plain(message, name)}`, what);
    if (code !== "CORRUPT") return;
    const named = {
      "the structure": subject.called.test(message),
      "the name": message.includes(name),
      "the key": damaged.some((key) => namesKey(message, key)),
    };
    const lacks = (Object.keys(named) as (keyof typeof named)[]).filter((part) => !named[part]);
    if (lacks.length > 0)
      this.add(`CORRUPT of ${subject.name} lacks ${lacks.join(", ")}: ${plain(message, name)}`, `${label}, ${what}`);
  }
}

/**
 * Of an open chunk its number may follow: the damaged bytes went on when it was closed. Two chunks that do not fit together, or two entries of a message, are both as likely the damaged one: there the key is
 * the journal's, or the other one of the message's shard.
 */
function namesKey(message: string, key: string): boolean {
  if (message.includes(JSON.stringify(key)) || message.includes(JSON.stringify(`${key}:`).slice(0, -1))) return true;
  return /do not fit together|:messages" is damaged: message \S+:/.test(message) && /the key "[^"]+"/.test(message);
}

/** Removes the parts that differ from case to case. */
function plain(message: unknown, name: string): string {
  return String(message).replaceAll(name, "NAME").replace(/\d+/g, "N").slice(0, 160);
}
