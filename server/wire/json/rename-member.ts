import type { JsonObject } from "../../kernel/json-value.ts";

/** Renames a member and returns its new name, which gets a number if `to` is already taken. */
export function renameMember(holder: JsonObject, from: string, to: string): string {
  const value = holder[from];
  delete holder[from];
  let name = to;
  for (let n = 2; Object.hasOwn(holder, name); n++) name = `${to} ${n}`;
  holder[name] = value;
  return name;
}
