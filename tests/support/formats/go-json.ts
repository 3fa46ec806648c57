import { jsonMembersOf } from "../../../server/wire/json/json-members.ts";

/** What a Go struct reads: a member by name is a value as it is, or a struct, or a list of structs. */
export interface GoStruct {
  readonly [field: string]: true | GoStruct | readonly [GoStruct];
}

/**
 * Reads JSON as Go's encoding/json reads it into a struct, for tests of what such a server makes of a request: a member
 * counts for the field of its name, or else for one that is the same under Unicode's simple case folding (which the engine's
 * regular expressions use too), the last one wins, and an object that comes again is read over the one before.
 */
export function goRead(text: string, shape: GoStruct, into: Record<string, any> = {}): any {
  const source = text.trim();
  if (!source.startsWith("{")) return into;
  const fields = Object.keys(shape);
  for (const { name, valueStart, valueEnd } of jsonMembersOf(source)) {
    const field = fields.includes(name) ? name : fields.find((one) => sameFolded(one, name));
    if (field === undefined) continue;
    const value = source.slice(valueStart, valueEnd).trim();
    const of = shape[field] as GoStruct[string];
    if (of === true) into[field] = JSON.parse(value);
    else if (Array.isArray(of)) into[field] = itemsOf(value).map((item) => goRead(item, of[0] as GoStruct));
    else into[field] = goRead(value, of as GoStruct, into[field] ?? {});
  }
  return into;
}

function sameFolded(one: string, other: string): boolean {
  return new RegExp(`^${RegExp.escape(one)}$`, "iu").test(other);
}

/** The texts of a list's items: a list is read as the object that has each under its place. */
function itemsOf(text: string): string[] {
  if (!text.startsWith("[")) return [];
  const items: string[] = [];
  let depth = 0;
  let begun = 1;
  let quoted = false;
  for (let at = 1; at < text.length; at++) {
    const code = text[at];
    if (quoted) {
      if (code === "\\") at++;
      else if (code === '"') quoted = false;
    } else if (code === '"') quoted = true;
    else if (code === "{" || code === "[") depth++;
    else if (code === "}" || (code === "]" && depth > 0)) depth--;
    else if ((code === "," && depth === 0) || (code === "]" && depth === 0)) {
      const item = text.slice(begun, at).trim();
      if (item !== "") items.push(item);
      begun = at + 1;
    }
  }
  return items;
}
