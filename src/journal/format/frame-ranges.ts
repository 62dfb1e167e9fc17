import { law } from "./law.ts";
import { Rolled } from "./rolled.ts";

/** Frames of one producer whose sequences follow each other, stamped from `firstMs` on. */
export interface FrameRange {
  producer: number;
  first: number;
  count: number;
  firstMs: number;
}

/** Stamped frames by their names. */
interface NamedFrames {
  some(test: (producer: number, sequence: number, stampMs: number) => boolean): boolean;
}

/**
 * Names of frames in few bytes: some three ranges for each producer that was at work in the last `law.dedupeMs`. All of
 * a range are stamped within the time in which all copies of one frame lie, so that no copy is ever in doubt.
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

  /** Of the names that were stamped after `sinceMs`. */
  static of(names: readonly NamedFrames[], sinceMs: number): FrameRanges {
    const list: FrameRange[] = [];
    for (const each of names)
      each.some((producer, sequence, stampMs) => {
        if (stampMs > sinceMs) join(list, producer >>> 0, sequence >>> 0, stampMs);
        return false;
      });
    return new FrameRanges(list);
  }

  /** Whether a frame of that name was counted less than `law.dedupeMs` before. Rolled where that cannot be told. */
  holds(producer: number, sequence: number, stampMs: number): boolean {
    const place = sequence >>> 0;
    for (const { first, count, firstMs } of this.#byProducer.get(producer >>> 0) ?? []) {
      if (place < first || place >= first + count) continue;
      if (stampMs - firstMs >= law.dedupeMs) throw new Rolled();
      return true;
    }
    return false;
  }
}

function join(list: FrameRange[], producer: number, sequence: number, stampMs: number): void {
  const last = list.at(-1);
  if (last && last.producer === producer && sequence === last.first + last.count) {
    const isNear = stampMs >= last.firstMs && stampMs - last.firstMs < law.voidAfterMs;
    if (isNear) {
      last.count++;
      return;
    }
  }
  list.push({ producer, first: sequence, count: 1, firstMs: stampMs });
}
