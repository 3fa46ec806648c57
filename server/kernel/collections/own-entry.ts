/**
 * What a table of names holds for a word that somebody else chose. A plain look-up finds what every object has, too: `constructor`,
 * `toString`, `__proto__`.
 */
export function ownEntry<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
