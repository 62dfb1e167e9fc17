import { corruptError, OrielError } from "../../base/errors.ts";
import type { RunOptions, Store } from "../../store/contract.ts";
import { type JournalAnswer, STATUS } from "../journal/format/answer.ts";
import { VALUE_PAIR } from "../journal/format/constants.ts";
import { type Frame, noParts, readFrame } from "../journal/format/frames.ts";
import type { Append } from "../journal/steps/append.ts";
import { renumber } from "../kernel/blocks/pairs.ts";
import { failUncertain, UNSURE, unsent } from "../series/refused.ts";
import { groupsKey } from "./dictionary.ts";
import type { GroupNames } from "./group-names.ts";
import type { OwnGroups } from "./labels.ts";
import { type AppendInGroups, appendInGroups, REGROUPED } from "./steps/append-in-groups.ts";

/** An append is sent again this often while other processes begin the dictionary anew. Then it fails. */
const MAX_ATTEMPTS = 8;
/** An own group that has no number yet, or none that stays. */
const UNKNOWN = -1;

/**
 * Sends the appends of one process. Their events have numbers of this process (`OwnGroups`), in place of which the store has the numbers
 * of the dictionary. A group that has none is interned with its first event there.
 *
 * Law: the store refuses an append unless all of the dictionary that gave its numbers is still there. Then nothing was written, and the
 * groups get numbers anew. So no event ever counts for another group, whatever a failover took.
 */
export class NumberedAppends {
  readonly #store: Store;
  readonly #key: string;
  readonly #names: GroupNames;
  readonly #own: OwnGroups;
  /** The dictionary's number of each own group. */
  #numbers = new Int32Array(0);
  #generation = 0;

  constructor(store: Store, key: string, names: GroupNames, own: OwnGroups) {
    this.#store = store;
    this.#key = key;
    this.#names = names;
    this.#own = own;
  }

  readonly send = async (input: Append, options: RunOptions): Promise<JournalAnswer> => {
    /** Refused appends that may still be written: they were sent more than once, and an earlier copy came before the loss. */
    let unsure = 0;
    const ranOnce = () => void unsure--;
    for (let attempt = 1; ; attempt++) {
      /** Until it is made, only names were asked for. */
      let numbered: AppendInGroups | undefined;
      let answer: JournalAnswer;
      try {
        if (attempt > 1) await this.#names.refresh();
        const frames = await this.#numbered(input.frames);
        numbered = { ...input, frames, guard: this.#names.known };
        answer = await this.#store.run(appendInGroups, this.#key, numbered, { ...options, ranOnce });
      } catch (error) {
        if (unsure) failUncertain(error);
        throw numbered ? error : unsent(error);
      }
      unsure++;
      // Its number was one above that of a chunk that existed.
      if (answer.status === STATUS.old && answer.header!.number + 1 < numbered.guard.firstChunk)
        throw corruptError(groupsKey(this.#key), "its first chunk is later than all chunks", UNSURE);
      if (answer.status !== REGROUPED) {
        if (!unsure) options.ranOnce?.();
        return answer;
      }
      if (attempt === MAX_ATTEMPTS) throw new OrielError("LOST", "the names of its groups kept changing", UNSURE);
    }
  };

  /** Copies of frames of f64 values, as frames of pairs with the numbers of the dictionary. */
  async #numbered(frames: readonly Frame[]): Promise<Frame[]> {
    for (;;) {
      const missing = new Set<number>();
      const numbered = frames.map((frame) => this.#renumbered(frame, missing));
      // An append names a dictionary, even if all its events are of the group _other.
      if (missing.size === 0 && this.#names.known.length > 0) return numbered;
      await this.#names.add([...missing].map((own) => this.#own.values[own]!));
    }
  }

  #renumbered(frame: Frame, missing: Set<number>): Frame {
    const bytes = frame.bytes.slice();
    bytes[0]! |= VALUE_PAIR;
    const parts = noParts();
    readFrame(new DataView(bytes.buffer), 0, VALUE_PAIR, parts);
    const { generation } = this.#names;
    if (generation !== this.#generation) this.#numbers = new Int32Array(0);
    this.#generation = generation;
    renumber(bytes, parts.valuesAt, parts.count, (own) => {
      const known = own < this.#numbers.length ? this.#numbers[own]! : UNKNOWN;
      const number = known === UNKNOWN ? this.#numberOf(own) : known;
      if (number === undefined) missing.add(own);
      return number ?? 0;
    });
    return { ...frame, bytes };
  }

  /** The number of an own group, as the dictionary is known now. A group that has none is asked for each time: the names may begin anew. */
  #numberOf(own: number): number | undefined {
    const { groups } = this.#names;
    if (own === 0) return groups.others;
    const number = this.#names.numberOf(this.#own.values[own]!);
    if (number === undefined || number === groups.others) return number;
    if (own >= this.#numbers.length) {
      const larger = new Int32Array(this.#own.values.length).fill(UNKNOWN);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[own] = number;
    return number;
  }
}
