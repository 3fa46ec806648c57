import type { JsonObject } from "../../kernel/json-value.ts";
import { camelName, spellingIn } from "./member-names.ts";
import { listIn, objectIn, objectsIn, textsIn } from "./members.ts";
import { geminiToolName, geminiToolNames } from "./tool-list.ts";

/**
 * Removes tools from a body, and references to them from `toolConfig`. Returns the spellings of the top-level members that
 * changed. If the caller allowed only removed tools, none may be called.
 */
export function withoutTools(body: JsonObject, names: ReadonlySet<string>): string[] {
  if (!geminiToolNames(body).some((name) => names.has(name))) return [];
  const tools = spellingIn(body, "tools");
  const kept = objectsIn(body, "tools").flatMap((tool) => without(tool, names));
  if (kept.length === 0) delete body[tools];
  else body[tools] = kept;
  const functionsLeft = kept.some((tool) => listIn(tool, "functionDeclarations").length > 0);
  return allowOnlyRemaining(body, names, functionsLeft) ? [tools, spellingIn(body, "toolConfig")] : [tools];
}

function without(tool: JsonObject, names: ReadonlySet<string>): JsonObject[] {
  const functions = spellingIn(tool, "functionDeclarations");
  for (const key of Object.keys(tool)) {
    if (key !== functions) {
      if (names.has(camelName(key))) delete tool[key];
      continue;
    }
    const declarations = listIn(tool, "functionDeclarations").filter((declaration) => !names.has(geminiToolName(declaration) ?? ""));
    if (declarations.length === 0) delete tool[key];
    else tool[key] = declarations;
  }
  return Object.keys(tool).length === 0 ? [] : [tool];
}

function allowOnlyRemaining(body: JsonObject, names: ReadonlySet<string>, functionsLeft: boolean): boolean {
  const config = objectIn(body, "toolConfig");
  const calling = config === null ? null : objectIn(config, "functionCallingConfig");
  if (config === null || calling === null) return false;
  if (!functionsLeft) {
    delete config[spellingIn(config, "functionCallingConfig")];
    return true;
  }
  const allowed = textsIn(calling, "allowedFunctionNames");
  const left = allowed.filter((name) => !names.has(name));
  if (left.length === allowed.length) return false;
  const key = spellingIn(calling, "allowedFunctionNames");
  if (left.length > 0) calling[key] = left;
  else {
    delete calling[key];
    calling.mode = "NONE";
  }
  return true;
}
