import { constants } from "./constants.ts";
import { JournalRolledBack } from "./journal-rolled-back.ts";

/** Frames of one producer with consecutive sequences, stamped from `firstMs` on. */
export interface FrameRange {
  producer: number;
  first: number;
  count: number;
  firstMs: number;
}

/** Frames by name, with their stamps. */
interface NamedFrames {
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean;
}

/**
 * Names of frames in few bytes: about three ranges for each producer that was active in the last `constants.dedupeMs`. All
 * frames of a range are stamped within the time in which all copies of a frame lie, so every copy is recognised.
 */
export class FrameRanges {
  readonly list: readonly FrameRange[];
  readonly #byProducer = new Map<number, FrameRange[]>();

  constructor(list: readonly FrameRange[]) {
    this.list = list;
    for (const range of list) {
      const others = this.#byProducer.get(range.producer);
      if (others) others.push(range);
      else this.#byProducer.set(range.producer, [range]);
    }
  }

  /** The ranges of names that were stamped after `sinceMs`. */
  static of(names: readonly NamedFrames[], sinceMs: number): FrameRanges {
    const list: FrameRange[] = [];
    for (const each of names)
      each.some((producer, sequence, stampMs) => {
        if (stampMs > sinceMs) join(list, producer >>> 0, sequence >>> 0, stampMs);
        return false;
      });
    return new FrameRanges(list);
  }

  /** Whether a frame with this name was counted within `constants.dedupeMs` before. Throws JournalRolledBack if that is unknown. */
  holds(producer: number, sequence: number, stampMs: number): boolean {
    const place = sequence >>> 0;
    for (const { first, count, firstMs } of this.#byProducer.get(producer >>> 0) ?? []) {
      if (place < first || place >= first + count) continue;
      if (stampMs - firstMs >= constants.dedupeMs) throw new JournalRolledBack();
      return true;
    }
    return false;
  }
}

function join(list: FrameRange[], producer: number, sequence: number, stampMs: number): void {
  const last = list.at(-1);
  if (last && last.producer === producer && sequence === last.first + last.count) {
    const isNear = stampMs >= last.firstMs && stampMs - last.firstMs < constants.voidAfterMs;
    if (isNear) {
      last.count++;
      return;
    }
  }
  list.push({ producer, first: sequence, count: 1, firstMs: stampMs });
}
