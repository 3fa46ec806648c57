import { type AnswerTexts, ContentsList } from "../../texts/answer-texts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { annotationsTexts, findingTexts } from "../annotation-texts.ts";
import { filledOf, objectOf, objectsOf } from "../loose-fields.ts";

/** Members of a message with texts: content, and servers' names for reasoning. */
const TEXTS = ["content", "refusal", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;
/** Where Azure reports its data sources, and Groq the tools it ran. */
const FINDINGS = ["context", "executed_tools"] as const;
/** Members whose inner texts continue from chunk to chunk. */
const CONTINUED: ReadonlySet<string> = new Set([...TEXTS, "audio"]);

/** Texts of a chat completion, or of a chunk of one. */
export const chatAnswerTexts: AnswerTexts = {
  counter: null,
  contents(body, whole) {
    const contents = new ContentsList();
    for (const [choice, at] of objectsOf(body.choices)) {
      const index = typeof choice.index === "number" ? choice.index : at;
      const message = objectOf(choice.delta) ?? objectOf(choice.message);
      if (message !== null) messageContents(message, index, contents);
      if (message !== null && !whole) contents.delta(message, index);
      contents.token(choice, "logprobs", null);
      if (!whole && filledOf(choice.finish_reason) !== null) contents.finish(`${index}.`);
    }
    if (whole) contents.ends.push("");
    return contents;
  },
  continuation(body) {
    for (const [choice] of objectsOf(body.choices)) {
      const delta = objectOf(choice.delta);
      if (delta === null) continue;
      for (const name of Object.keys(delta))
        if (name === "role" || (typeof delta[name] === "object" && !CONTINUED.has(name))) delete delta[name];
    }
  },
};

const PART_TEXTS = ["text", "thinking", "summary", "refusal", "content"] as const;
const MAX_DEPTH = 4;

/** A string, or a list of parts, which together are one text, like the pieces of a stream. */
function textPieces(holder: JsonObject, key: string, channel: string, contents: ContentsList, depth: number): void {
  contents.piece(channel, holder, key);
  if (depth < MAX_DEPTH)
    for (const [part] of objectsOf(holder[key])) for (const name of PART_TEXTS) textPieces(part, name, channel, contents, depth + 1);
}

function messageContents(message: JsonObject, index: number, contents: ContentsList): void {
  for (const name of TEXTS) if (message[name] !== undefined) textPieces(message, name, `${index}.${name}`, contents, 0);
  annotationsTexts(message, contents, { channel: `${index}.content`, places: null });
  for (const name of FINDINGS) findingTexts(message, name, contents);
  const audio = objectOf(message.audio);
  if (audio !== null) contents.piece(`${index}.audio`, audio, "transcript");
  const group = `${index}.calls`;
  for (const [call, at] of objectsOf(message.tool_calls)) {
    const channel = `${group}.${typeof call.index === "number" ? call.index : at}`;
    const custom = objectOf(call.custom);
    const holder = custom ?? objectOf(call.function);
    const key = custom === null ? "arguments" : "input";
    contents.calls.push({
      channel,
      group,
      id: filledOf(call.id),
      name: filledOf(holder?.name),
      place: holder === null ? null : { holder, key },
      form: formOf(holder?.[key]),
      freeform: custom !== null,
    });
  }
  const legacy = objectOf(message.function_call);
  if (legacy !== null)
    contents.calls.push({
      channel: `${group}.function`,
      group,
      name: filledOf(legacy.name),
      place: { holder: legacy, key: "arguments" },
      form: formOf(legacy.arguments),
    });
}

/** Some servers send arguments as an object. */
function formOf(given: unknown): "piece" | "object" {
  return objectOf(given) === null ? "piece" : "object";
}
