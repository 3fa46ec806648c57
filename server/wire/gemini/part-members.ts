import type { JsonObject } from "../../kernel/json-value.ts";
import { spellingIn } from "./member-names.ts";
import { objectIn } from "./members.ts";
import type { GeminiReadReport } from "./read-report.ts";

/** The members read of the objects in a part. */
const READ: readonly (readonly [string, ReadonlySet<string>])[] = [
  ["inlineData", new Set(["mimeType", "data", "displayName"])],
  ["fileData", new Set(["mimeType", "fileUri", "displayName"])],
  ["functionCall", new Set(["id", "name", "args"])],
  ["functionResponse", new Set(["id", "name", "response", "parts"])],
];

/** Drops members of the objects in a part that are not read; `at` is the part's path. */
export function dropPartMembers(part: JsonObject, at: string, findings: GeminiReadReport): void {
  for (const [name, known] of READ) {
    const object = objectIn(part, name);
    if (object !== null) findings.dropOthers(object, known, `${at}.${spellingIn(part, name)}.`);
  }
}
