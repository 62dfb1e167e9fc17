/** A row as a database keeps it that checks fences: `UPDATE ... SET fence = :fence WHERE fence <= :fence`. */
export class FencedRow {
  #fence = 0;

  /** False: refused, since a later holder has written. */
  write(fence: number): boolean {
    if (fence < this.#fence) return false;
    this.#fence = fence;
    return true;
  }
}
