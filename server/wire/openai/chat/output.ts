import { looseListOf, objectOf } from "../loose-fields.ts";

/** Characters that a model wrote in a message or delta: texts, reasoning, refusals and tool arguments. */
export function chatOutputLength(message: unknown): number {
  const object = objectOf(message);
  if (object === null) return 0;
  let length = lengthOfContent(object.content);
  length += lengthOfContent(object.reasoning_content ?? object.reasoning) + lengthOfContent(object.refusal);
  for (const call of looseListOf(object.tool_calls)) {
    const called = objectOf(call);
    length += lengthOfCall(called?.function) + lengthOfContent(objectOf(called?.custom)?.input);
  }
  return length + lengthOfCall(object.function_call);
}

/** Whether a message or delta contains audio or images. */
export function hasChatMedia(message: unknown): boolean {
  const object = objectOf(message);
  if (object === null) return false;
  const audio = objectOf(object.audio);
  return lengthOfContent(audio?.data) + lengthOfContent(audio?.transcript) > 0 || looseListOf(object.images).length > 0;
}

function lengthOfCall(call: unknown): number {
  const called = objectOf(call);
  return called === null ? 0 : lengthOfContent(called.name) + lengthOfContent(called.arguments);
}

function lengthOfContent(content: unknown): number {
  if (typeof content === "string") return content.length;
  let length = 0;
  for (const part of looseListOf(content))
    length += typeof part === "string" ? part.length : lengthOfContent(objectOf(part)?.text) + lengthOfContent(objectOf(part)?.thinking);
  return length;
}
