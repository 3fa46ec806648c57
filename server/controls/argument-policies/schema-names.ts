import { folded } from "../../kernel/text/folded-name.ts";

const NAMING = new Set(["properties", "dependentSchemas", "dependentRequired"]);

/** The member names that a schema refers to, at any depth, by their case-folded form. */
export function schemaNames(schema: unknown): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  const add = (name: string) => {
    const key = folded(name);
    const spellings = names.get(key);
    if (spellings === undefined) names.set(key, new Set([name]));
    else spellings.add(name);
  };
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next))
      for (const [key, value] of Object.entries(next)) {
        if (NAMING.has(key) && typeof value === "object" && value !== null) Object.keys(value as object).forEach(add);
        if (key === "required" && Array.isArray(value)) for (const name of value) if (typeof name === "string") add(name);
      }
    open.push(...(Object.values(next) as unknown[]));
  }
  return names;
}
