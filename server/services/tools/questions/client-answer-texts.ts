import { decodedAddress } from "../../../wire/decoded-address.ts";
import { exactReading } from "../../../kernel/text/exact-numbers.ts";
import { isObject, type JsonValue } from "../../../kernel/json-value.ts";
import type { TextSlot } from "../../../wire/inbound.ts";
import type { RpcMessage } from "../../../wire/mcp/rpc.ts";
import { collectSlots, exactAt, memberNameSlot } from "../argument-slots.ts";
import { isProtocolMember, metaTexts } from "../request-texts.ts";

/** Protocol names and values in a caller's answers. They are not inspected, because they carry no content and must not be changed. */
const OWN_WORDS = new Set([
  "action",
  "accept",
  "decline",
  "cancel",
  "role",
  "user",
  "assistant",
  "model",
  "stopReason",
  "endTurn",
  "maxTokens",
  "stopSequence",
  "toolUse",
  "content",
  "type",
  "text",
  "image",
  "audio",
  "data",
  "mimeType",
  "tool_use",
  "tool_result",
  "id",
  "name",
  "input",
  "toolUseId",
  "isError",
  "structuredContent",
]);

/** Collects the texts of a caller's answers to servers' questions, sent as a response or along with a request. */
export function answerTexts({ kind, params, document }: RpcMessage, slots: TextSlot[]): void {
  if (kind === "response") {
    const changed = (member: string) => () => document.touch(member);
    answered(document.value, "result", slots, changed("result"), exactReading(document.memberText("result") ?? ""));
    const { error } = document.value;
    const exact = exactReading(document.memberText("error") ?? "");
    if (!isObject(error)) collectSlots(document.value, "error", slots, changed("error"), exact);
    else
      for (const name of Object.keys(error)) if (name !== "code") collectSlots(error, name, slots, changed("error"), exactAt(exact, name));
  }
  const { inputResponses } = params;
  if (inputResponses === undefined) return;
  const changed = () => document.touch("params");
  const exact = exactAt(exactReading(document.memberText("params") ?? ""), "inputResponses");
  if (!isObject(inputResponses)) return collectSlots(params, "inputResponses", slots, changed, exact);
  for (const name of Object.keys(inputResponses)) {
    answered(inputResponses, name, slots, changed, exactAt(exact, name));
    if (!isProtocolMember(name)) slots.push(memberNameSlot(inputResponses, name, changed));
  }
}

/** Form input, model output or a list of roots: everything except the bytes of images and audio. */
function answered(holder: Holder, key: string, slots: TextSlot[], changed: () => void, exact: unknown): void {
  const answer = holder[key];
  if (!isObject(answer)) return collectSlots(holder, key, slots, changed, exact);
  for (const name of Object.keys(answer))
    if (name === "_meta") metaTexts(answer, name, slots, changed, exactAt(exact, name));
    else addSlot(answer, name, slots, changed, exactAt(exact, name));
}

type Holder = Record<string, JsonValue | undefined>;

function addSlot(holder: Holder | JsonValue[], key: string | number, slots: TextSlot[], changed: () => void, exact: unknown): void {
  const value = (holder as Record<string | number, JsonValue | undefined>)[key];
  if (Array.isArray(value)) value.forEach((_, index) => addSlot(value, index, slots, changed, exactAt(exact, index)));
  else if (isObject(value)) {
    const isBytes = value.type === "image" || value.type === "audio";
    for (const name of Object.keys(value)) {
      if (!(isBytes && name === "data")) addSlot(value, name, slots, changed, exactAt(exact, name));
      if (!OWN_WORDS.has(name)) slots.push(memberNameSlot(value, name, changed));
    }
  } else if (key === "uri" && typeof value === "string") slots.push(decodedSlot(holder as Holder, key, value, changed));
  else if (typeof value !== "string" || !OWN_WORDS.has(value)) collectSlots(holder, key, slots, changed, exact);
}

/** The address of a root or resource in the form that its reader decodes; it keeps its spelling unless it is changed. */
function decodedSlot(holder: Holder, key: string, address: string, changed: () => void): TextSlot {
  return {
    role: "tool",
    kind: "text",
    get text() {
      return decodedAddress(String(holder[key] ?? address));
    },
    replace(text) {
      holder[key] = text;
      changed();
    },
  };
}
