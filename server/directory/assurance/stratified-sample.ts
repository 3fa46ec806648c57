/** A sample that includes rare strata: takes one of each stratum in turn until there are enough. Duplicate requests count once. */
export function stratified<T extends { readonly stratum: string; readonly content: string }>(candidates: readonly T[], size: number): T[] {
  const strata = new Map<string, T[]>();
  const seen = new Set<string>();
  for (const one of candidates) {
    if (seen.has(one.content)) continue;
    seen.add(one.content);
    strata.set(one.stratum, [...(strata.get(one.stratum) ?? []), one]);
  }
  const chosen: T[] = [];
  const turns = [...strata.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, of]) => of);
  for (let turn = 0; chosen.length < size && turns.some((of) => turn < of.length); turn++)
    for (const of of turns) if (chosen.length < size && of[turn] !== undefined) chosen.push(of[turn] as T);
  return chosen;
}
