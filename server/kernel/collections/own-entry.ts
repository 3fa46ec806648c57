/**
 * Looks up a word that somebody else chose in a table. A plain look-up would also find inherited members such as `constructor`, `toString`
 * and `__proto__`.
 */
export function ownEntry<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
