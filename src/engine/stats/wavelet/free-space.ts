interface Gap {
  from: number;
  to: number;
}

/** Keeps account of the free parts of a memory. All sizes and addresses are multiples of 16. Cost: O(gaps), which are few. */
export class FreeSpace {
  readonly #gaps: Gap[];

  constructor(start: number) {
    this.#gaps = [{ from: start, to: Number.POSITIVE_INFINITY }];
  }

  /** The first address after all parts in use. */
  get end(): number {
    return this.#gaps.at(-1)!.from;
  }

  take(sizeBytes: number): number {
    const i = this.#gaps.findIndex(({ from, to }) => to - from >= sizeBytes);
    const gap = this.#gaps[i]!;
    const address = gap.from;
    gap.from += sizeBytes;
    if (gap.from === gap.to) this.#gaps.splice(i, 1);
    return address;
  }

  give(address: number, sizeBytes: number): void {
    const end = address + sizeBytes;
    const i = this.#gaps.findIndex(({ from }) => from >= end);
    const [before, after] = [this.#gaps[i - 1], this.#gaps[i]!];
    const joinsAfter = after.from === end;
    if (before?.to === address) {
      before.to = joinsAfter ? after.to : end;
      if (joinsAfter) this.#gaps.splice(i, 1);
    } else if (joinsAfter) after.from = address;
    else this.#gaps.splice(i, 0, { from: address, to: end });
  }
}
