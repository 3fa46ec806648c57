/** All numbers in a schema, at any depth. */
export function schemaNumbers(schema: unknown): ReadonlySet<number> {
  const numbers = new Set<number>();
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "number") numbers.add(next);
    else if (typeof next === "object" && next !== null) open.push(...(Object.values(next) as unknown[]));
  }
  return numbers;
}
