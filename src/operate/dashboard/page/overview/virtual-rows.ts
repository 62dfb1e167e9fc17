/** Rows beyond the edges of the screen, so that a quick scroll shows no gap. */
const SPARE = 4;

export interface RowView {
  readonly element: HTMLElement;
  /** The link that the keyboard moves between. */
  readonly focus: HTMLElement;
}

/** A long list of which only the rows on the screen exist. All rows have one height. */
export class VirtualRows<Row extends RowView> {
  readonly viewport: HTMLElement;
  readonly #space: HTMLElement;
  readonly #make: () => Row;
  readonly #fill: (row: Row, index: number) => void;
  readonly #onShown: () => void;
  readonly #shown = new Map<number, Row>();
  readonly #spare: Row[] = [];
  #count = 0;
  #heightPx = 44;
  #frame = 0;

  /** `make` makes an empty row, `fill` shows the entry at an index in it, `onShown` hears of other rows on the screen. */
  constructor(
    viewport: HTMLElement,
    space: HTMLElement,
    make: () => Row,
    fill: (row: Row, index: number) => void,
    onShown: () => void,
  ) {
    this.viewport = viewport;
    this.#space = space;
    this.#make = make;
    this.#fill = fill;
    this.#onShown = onShown;
    viewport.addEventListener("scroll", () => this.#later(), { passive: true });
    viewport.addEventListener("keydown", (event) => this.#onKey(event));
    new ResizeObserver(() => this.#later()).observe(viewport);
  }

  /** Indexes of the rows on the screen. */
  get visible(): number[] {
    const [first, end] = this.#range(0);
    return Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
  }

  /** The list has changed. */
  reset(count: number): void {
    this.#count = count;
    this.#heightPx = Number.parseFloat(getComputedStyle(this.viewport).getPropertyValue("--row")) || 44;
    this.#space.style.height = `${count * this.#heightPx}px`;
    // A short list ends after its last row.
    this.viewport.style.setProperty("--full", `${count * this.#heightPx}px`);
    for (const [index, row] of this.#shown) if (index >= count) this.#remove(index, row);
    this.refresh();
    this.#draw();
  }

  /** The content of the rows has changed. */
  refresh(): void {
    for (const [index, row] of this.#shown) this.#fill(row, index);
  }

  #later(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #range(spare: number): [first: number, end: number] {
    const { scrollTop, clientHeight } = this.viewport;
    const first = Math.max(0, Math.floor(scrollTop / this.#heightPx) - spare);
    return [first, Math.min(this.#count, Math.ceil((scrollTop + clientHeight) / this.#heightPx) + spare)];
  }

  #draw(): void {
    const [first, end] = this.#range(SPARE);
    for (const [index, row] of this.#shown) if (index < first || index >= end) this.#remove(index, row);
    for (let index = first; index < end; index++) {
      if (this.#shown.has(index)) continue;
      const row = this.#spare.pop() ?? this.#make();
      row.element.style.transform = `translateY(${index * this.#heightPx}px)`;
      row.element.hidden = false;
      if (!row.element.isConnected) this.#space.append(row.element);
      this.#fill(row, index);
      this.#shown.set(index, row);
    }
    this.#onShown();
  }

  #remove(index: number, row: Row): void {
    this.#shown.delete(index);
    row.element.hidden = true;
    this.#spare.push(row);
  }

  /** Moves between rows: arrows, Page Up, Page Down, Home, End. */
  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.viewport.clientHeight / this.#heightPx) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.#count,
      End: this.#count,
    };
    const step = steps[event.key];
    if (step === undefined || this.#count === 0) return;
    event.preventDefault();
    const current = [...this.#shown].find(([, row]) => row.focus === document.activeElement)?.[0];
    const next = current === undefined ? this.visible[0]! : Math.min(this.#count - 1, Math.max(0, current + step));
    const top = next * this.#heightPx;
    const { scrollTop, clientHeight } = this.viewport;
    if (top < scrollTop) this.viewport.scrollTop = top;
    else if (top + this.#heightPx > scrollTop + clientHeight)
      this.viewport.scrollTop = top + this.#heightPx - clientHeight;
    this.#draw();
    this.#shown.get(next)?.focus.focus({ preventScroll: true });
  }
}
