import type { JsonObject } from "../../kernel/json-value.ts";

/** Calls a member otherwise, and tells how: another one that is called so already stays what it is. */
export function renameMember(holder: JsonObject, from: string, to: string): string {
  const value = holder[from];
  delete holder[from];
  let name = to;
  for (let n = 2; Object.hasOwn(holder, name); n++) name = `${to} ${n}`;
  holder[name] = value;
  return name;
}
