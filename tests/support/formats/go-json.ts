import { jsonMembersOf } from "../../../server/wire/json/json-members.ts";

/** The fields of a Go struct: `true` for a plain value, or a nested struct, or a list of structs. */
export interface GoStruct {
  readonly [field: string]: true | GoStruct | readonly [GoStruct];
}

/**
 * Parses JSON as Go's encoding/json unmarshals it into a struct, to test what a server in Go reads from a request: a member matches the
 * field of its exact name, else one that is equal under Unicode simple case folding (which the engine's regular expressions use too); the
 * last duplicate wins; and a repeated object is merged into the earlier one.
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

/** The items of a list as text: a list is read like an object with indexes as names. */
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
