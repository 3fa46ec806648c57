import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { camelName, spellingIn } from "./member-names.ts";
import { listIn, objectsIn, textIn } from "./members.ts";

export const geminiToolName = (declaration: JsonValue): string | null => (isObject(declaration) ? textIn(declaration, "name") : null);

/** The names of all tools offered: functions by name, server-side tools by the name of their member. */
export function geminiToolNames(body: JsonObject): string[] {
  return objectsIn(body, "tools").flatMap((tool) => {
    const functions = spellingIn(tool, "functionDeclarations");
    return Object.keys(tool).flatMap((key) => {
      if (tool[key] === null || tool[key] === undefined) return [];
      return key === functions
        ? listIn(tool, "functionDeclarations").flatMap((declaration) => geminiToolName(declaration) ?? [])
        : [camelName(key)];
    });
  });
}
