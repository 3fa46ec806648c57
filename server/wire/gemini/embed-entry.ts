import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import { snakeName, spellingIn } from "./member-names.ts";
import { member, objectsIn } from "./members.ts";

/** Members read by governance or translation; each must be in only one spelling, because the provider would pick one of two. */
const READ = ["content", "outputDimensionality", "taskType", "title"];

export function checkEmbedEntry(entry: JsonObject, at: string, fields: FieldProblem[]): void {
  for (const name of READ)
    if (entry[name] !== undefined && snakeName(name) !== name && entry[snakeName(name)] !== undefined)
      fields.push({ field: `${at}${snakeName(name)}`, message: `stands twice, as ${name} too` });
  const content = member(entry, "content");
  if (!isObject(content)) fields.push({ field: `${at}content`, message: "must be an object with parts" });
  else {
    const parts = objectsIn(content, "parts");
    if (parts.length === 0) fields.push({ field: `${at}content.parts`, message: "must be a non-empty array of objects" });
    for (const [i, part] of parts.entries())
      if (part.text !== undefined && typeof part.text !== "string")
        fields.push({ field: `${at}content.parts[${i}].text`, message: "must be a text" });
  }
  const size = member(entry, "outputDimensionality");
  if (size !== undefined && (typeof size !== "number" || !Number.isInteger(size) || size < 1))
    fields.push({ field: `${at}${spellingIn(entry, "outputDimensionality")}`, message: "must be a whole number above 0" });
}
