/**
 * The k-th smallest of the first `count` values, which are rearranged: no smaller one lies behind it, no larger one before it.
 * Hoare's FIND (1961) with the median of three as pivot; where that shrinks too slowly, the rest is sorted, so that no
 * data makes it quadratic. No NaN.
 */
export function quickselect(values: Float64Array, k: number, count = values.length): number {
  let low = 0;
  let high = count - 1;
  for (let rounds = 32; low < high; rounds--) {
    if (rounds === 0) {
      values.subarray(low, high + 1).sort();
      break;
    }
    const pivot = medianOfThree(values[low], values[(low + high) >>> 1], values[high]);
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const swapped = values[i];
      values[i++] = values[j];
      values[j--] = swapped;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k];
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
