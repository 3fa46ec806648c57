/**
 * Edit distance of two texts (insertions, deletions, substitutions, swaps of neighbours); if it exceeds `most`, just some greater number.
 */
export function editsBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = swapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same, swap));
    }
    before = row;
    row = next;
  }
  return row[other.length] as number;
}
