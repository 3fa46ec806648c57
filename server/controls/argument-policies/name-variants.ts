import { folded } from "../../kernel/text/folded-name.ts";

/** Stands for a value whose name differs from the requested one only in case, so that some parsers would accept it. */
export const VARIANT_OF_NAME = Symbol();

/** Whether the object has a member that differs from the name only in spelling. */
export function hasVariantOf(object: object, name: string): boolean {
  const wanted = folded(name);
  return Object.keys(object).some((one) => one !== name && folded(one) === wanted);
}

/** Whether any object in the value has a name that differs from one of `names` only in spelling. `names` are keyed by folded form. */
export function hasNameVariant(value: unknown, names: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next)) for (const name of Object.keys(next)) if (names.get(folded(name))?.has(name) === false) return true;
    open.push(...(Object.values(next) as unknown[]));
  }
  return false;
}
