import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { otherSlots, visitOther, visitOthers } from "../texts/other-texts.ts";
import { addressSlots, base64Slots, fileNameSlot } from "../texts/text-documents.ts";
import { isReadAsText } from "../texts/text-file.ts";
import { camelName, spellingIn } from "./member-names.ts";
import { objectIn, objectsIn, textIn } from "./members.ts";

type Role = TextSlot["role"];

/** The names that Google's guide uses for a result that is a plain text. */
const PLAIN_RESULT = new Set(["output", "result", "error"]);

/** The members inspected separately within each part, in both spellings; the format knows no other text in them. */
const IN_PARTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    text: [],
    inlineData: [],
    fileData: [],
    functionCall: ["args"],
    toolCall: ["args"],
    functionResponse: ["response", "parts"],
    toolResponse: ["response", "parts"],
    executableCode: ["code"],
    codeExecutionResult: ["output"],
  }).map(([name, members]) => [name, new Set(members)] as const),
);
const IN_CONTENT: ReadonlySet<string> = new Set(["parts"]);

/**
 * Every text of one content that the model would read, in order. `touch` is called for each replacement. Texts unknown to
 * the format are added to `others`; `written` serializes function arguments and results.
 */
export function contentSlots(
  content: JsonObject,
  role: Role,
  touch: () => void,
  others: TextSlot[],
  written: (data: JsonObject) => string = JSON.stringify,
): TextSlot[] {
  visitOthers(content, IN_CONTENT, otherSlots(others, role, touch));
  return objectsIn(content, "parts").flatMap((part) => {
    otherPartTexts(part, role, touch, others);
    return partSlots(part, role, touch, written).map((slot) => ({ ...slot, owner: content }));
  });
}

function otherPartTexts(part: JsonObject, role: Role, touch: () => void, others: TextSlot[]): void {
  const visit = otherSlots(others, role, touch);
  for (const name in part) {
    const known = IN_PARTS.get(camelName(name));
    const value = part[name];
    if (known === undefined) visitOther(part, name, name, visit);
    else if (isObject(value)) {
      visitOthers(value, known, visit);
      if (known.has("parts")) for (const nested of objectsIn(value, "parts")) otherPartTexts(nested, role, touch, others);
    }
  }
}

export function roleOf(content: JsonObject): Role {
  switch (textIn(content, "role")) {
    case "model":
      return "assistant";
    case "system":
      return "system";
    case "function":
    case "tool":
      return "tool";
    default:
      return "user";
  }
}

function partSlots(part: JsonObject, role: Role, touch: () => void, written: (data: JsonObject) => string): TextSlot[] {
  const slots: TextSlot[] = [];
  const member = (holder: JsonObject | null, name: string, as: Role) => {
    if (holder !== null) slots.push(...textSlot(holder, name, as, touch));
  };
  member(part, "text", role);
  member(objectIn(part, "executableCode"), "code", "assistant");
  member(objectIn(part, "codeExecutionResult"), "output", "tool");
  for (const name of ["functionCall", "toolCall"]) {
    const call = objectIn(part, name);
    if (call !== null) slots.push(...jsonSlot(call, "args", "assistant", touch, written));
  }
  for (const name of ["functionResponse", "toolResponse"]) {
    const result = objectIn(part, name);
    if (result === null) continue;
    slots.push(...resultSlots(result, touch, written));
    for (const nested of objectsIn(result, "parts")) slots.push(...partSlots(nested, "tool", touch, written));
  }
  slots.push(...documentSlot(part, role, touch));
  return slots;
}

export function textSlot(holder: JsonObject, name: string, role: Role, touch: () => void): TextSlot[] {
  const key = spellingIn(holder, name);
  const text = holder[key];
  if (typeof text !== "string") return [];
  const replace = (next: string) => {
    holder[key] = next;
    touch();
  };
  return [{ role, kind: "text", text, replace }];
}

function jsonSlot(holder: JsonObject, name: string, role: Role, touch: () => void, written: (data: JsonObject) => string): TextSlot[] {
  const key = spellingIn(holder, name);
  const value = holder[key];
  if (!isObject(value)) return [];
  const replace = (next: string) => {
    holder[key] = JSON.parse(next) as JsonValue;
    touch();
  };
  return [{ role, kind: "arguments", text: written(value), replace }];
}

/** A plain text result is one text; any other is inspected as JSON, because the model also reads names and numbers. */
function resultSlots(result: JsonObject, touch: () => void, written: (data: JsonObject) => string): TextSlot[] {
  const response = objectIn(result, "response");
  if (response === null) return [];
  const plain = Object.entries(response).every(([name, value]) => PLAIN_RESULT.has(name) && typeof value === "string");
  if (!plain) return jsonSlot(result, "response", "tool", touch, written);
  return Object.keys(response).flatMap((name) => textSlot(response, name, "tool", touch));
}

function calledSlot(file: JsonObject, role: Role, touch: () => void): TextSlot[] {
  return textIn(file, "displayName") === null ? [] : [fileNameSlot(file, spellingIn(file, "displayName"), role, touch)];
}

/** A text document in base64 or in a data URL is a text that the model reads like any other. */
function documentSlot(part: JsonObject, role: Role, touch: () => void): TextSlot[] {
  const file = objectIn(part, "fileData");
  if (file !== null)
    return [...calledSlot(file, role, touch), ...addressSlots(file, spellingIn(file, "fileUri"), textIn(file, "displayName"), role, touch)];
  const data = objectIn(part, "inlineData");
  if (data === null) return [];
  const called = calledSlot(data, role, touch);
  const key = spellingIn(data, "data");
  const encoded = data[key];
  if (typeof encoded !== "string") return called;
  const isRead = isReadAsText(textIn(data, "mimeType") ?? "", textIn(data, "displayName"), encoded);
  return isRead ? [...called, ...base64Slots(data, key, role, touch)] : called;
}
