import { DRAW_MODULUS, DRAW_POINTS, FIRST_DRAW_POINT, TURNS } from "../../generated/layouts/breaker.ts";
import type { Census } from "./census.ts";
import { exceeds, hasQuorum, type Rule } from "./rule.ts";

/**
 * The probes of a shared circuit whose processes decide. Each that failed is one of its process. After it those go first whose
 * probes did not fail, a few at a time: so no process is always the first to ask. The twin of lua/breaker/turns.lua.
 */
export class Turns {
  /** Processes whose probes failed in this round. */
  failed = 0;
  /** The same, or those of the last round while none has failed in this one. They probe last. */
  readonly #last = new Set<string>();
  readonly #voices: { callers: number };

  constructor(voices: Pick<Census, "callers">) {
    this.#voices = voices;
  }

  /** Number of processes that probe last. */
  get size(): number {
    return this.#last.size;
  }

  /** Nobody waits. */
  clear(): void {
    this.#last.clear();
  }

  /** Notes that a process asks for a probe. Whatever the census said, it is one more than those whose probes failed. */
  noteAsker(id: string): void {
    if (this.size === 0 || this.#last.has(id)) return;
    this.#voices.callers = Math.max(this.#voices.callers, this.size + 1);
  }

  /**
   * Whether the circuit opens, now that a probe of this process failed. A process counts once in a round. Without a quorum, every failed
   * probe opens.
   */
  fails(rule: Rule, id: string): boolean {
    const { callers } = this.#voices;
    if (!hasQuorum(rule)) return true;
    if (this.failed === 0) this.clear();
    this.#last.add(id);
    this.failed = this.#last.size;
    return exceeds(this.failed / Math.max(1, Math.min(rule.probes, callers)), rule.quorum);
  }

  /**
   * Ms for which a process waits while others may probe. After a failed probe the first turn is that of about one process, and each turn
   * doubles their number. One whose probe failed waits for a whole cooldown, unless it is the only one. The order is drawn anew for each `epoch`.
   */
  waitMs(rule: Rule, id: string, epoch: number, cooldownMs: number): number {
    const { callers } = this.#voices;
    if (!hasQuorum(rule) || this.size === 0 || callers <= 1) return 0;
    if (this.#last.has(id)) return cooldownMs;
    const point = (epoch % DRAW_POINTS) + FIRST_DRAW_POINT;
    let drawn = 0;
    for (let at = 0; at < id.length; at++) drawn = (drawn * point + id.charCodeAt(at)) % DRAW_MODULUS;
    let turn = 0;
    for (let share = DRAW_MODULUS / Math.max(1, callers - this.size); share < drawn; share *= 2) turn++;
    return Math.floor((cooldownMs * turn) / TURNS);
  }
}
