import { addCount, CELL, clearRow, ROW, widen } from "./cells.ts";

/**
 * The counts of one slice of time, and sum (`rt`), minimum and maximum of its response times in ms; without any, these are
 * 0, NaN and NaN. Each call O(1). ARGUMENT for counts that are not whole or below 0. Source: Sentinel's MetricBucket,
 * whose minimum is 5000 when there is none: see `mode` of MetricWindow.
 */
export class MetricBucket {
  readonly #cells = new Float64Array(ROW);

  constructor() {
    this.reset();
  }

  get success(): number {
    return this.#get(CELL.success);
  }
  get exception(): number {
    return this.#get(CELL.exception);
  }
  get pass(): number {
    return this.#get(CELL.pass);
  }
  get block(): number {
    return this.#get(CELL.block);
  }
  get occupiedPass(): number {
    return this.#get(CELL.occupiedPass);
  }
  get rt(): number {
    return this.#get(CELL.rt);
  }
  get minRt(): number {
    const rtMs = this.#get(CELL.minRt);
    return rtMs === Infinity ? Number.NaN : rtMs;
  }
  get maxRt(): number {
    const rtMs = this.#get(CELL.maxRt);
    return rtMs === -Infinity ? Number.NaN : rtMs;
  }

  addSuccess(count = 1): this {
    return this.#add(CELL.success, count);
  }
  addException(count = 1): this {
    return this.#add(CELL.exception, count);
  }
  addPass(count = 1): this {
    return this.#add(CELL.pass, count);
  }
  addBlock(count = 1): this {
    return this.#add(CELL.block, count);
  }
  addOccupiedPass(count = 1): this {
    return this.#add(CELL.occupiedPass, count);
  }

  addRt(rtMs: number): this {
    widen(this.#cells, 0, rtMs);
    this.#cells[CELL.rt] = this.#get(CELL.rt) + rtMs;
    return this;
  }

  reset(): this {
    clearRow(this.#cells, 0);
    return this;
  }

  #get(cell: number): number {
    return this.#cells[cell] as number;
  }

  #add(cell: number, count: number): this {
    addCount(this.#cells, cell, count);
    return this;
  }
}
