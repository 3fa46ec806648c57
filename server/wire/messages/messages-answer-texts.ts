import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { asksNothing } from "../json/document.ts";
import { filledOf, objectOf, objectsOf } from "../openai/loose-fields.ts";
import { holdsText } from "../openai/text-places.ts";
import { isProse } from "./prose.ts";

const CALLS: ReadonlySet<unknown> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

/** Text blocks of messages, which clients concatenate. */
const PROSE = "text";

/** Texts of a message, or of an event of its stream. */
export const messagesAnswerTexts: AnswerTexts = {
  counter: null,
  contents(body, whole) {
    const contents = new ContentsList();
    if (whole) {
      for (const [block, index] of objectsOf(body.content)) blockContents(block, index, contents);
      contents.ends.push("");
      return contents;
    }
    const index = typeof body.index === "number" ? body.index : 0;
    const block = objectOf(body.content_block);
    const delta = objectOf(body.delta);
    switch (body.type) {
      case "message_start":
        for (const [early, at] of objectsOf(objectOf(body.message)?.content)) blockContents(early, at, contents);
        break;
      case "content_block_start":
        if (block !== null) blockContents(block, index, contents);
        break;
      case "content_block_delta":
        if (delta === null) break;
        deltaContents(delta, index, contents);
        contents.delta(delta, index);
        break;
      case "content_block_stop":
        contents.ends.push(`${index}.`);
        break;
      case "message_stop":
        contents.ends.push("");
        break;
    }
    return contents;
  },
  continuation: () => undefined,
};

function blockContents(block: JsonObject, index: number, contents: ContentsList): void {
  if (CALLS.has(block.type)) {
    // A streamed call starts with an empty object, and its pieces follow.
    const hasInput = block.input !== "" && !asksNothing(block.input);
    contents.calls.push({
      channel: `${index}.call`,
      group: `${index}.call`,
      name: filledOf(block.name),
      place: hasInput ? { holder: block, key: "input" } : null,
      form: "object",
    });
    return;
  }
  if (block.type === "text") {
    contents.piece(`${index}.text`, block, "text", PROSE);
    for (const [citation] of objectsOf(block.citations)) citationTexts(citation, contents);
  } else if (block.type === "thinking") contents.piece(`${index}.thinking`, block, "thinking");
  else if (block.type !== "redacted_thinking") resultContents(block, contents);
}

/** Results of hosted tools, and blocks of unknown types. */
function resultContents(block: JsonObject, contents: ContentsList): void {
  for (const [name, value] of Object.entries(block)) {
    const isText = holdsText(name) || isProse(block, name);
    if (typeof value === "string") {
      if (isText) contents.whole(block, name);
    } else if (Array.isArray(value)) {
      for (const [at, inner] of value.entries()) {
        if (isObject(inner)) resultContents(inner, contents);
        else if (isText) contents.whole(value, at);
      }
    } else if (isObject(value)) resultContents(value, contents);
  }
}

function deltaContents(delta: JsonObject, index: number, contents: ContentsList): void {
  contents.piece(`${index}.text`, delta, "text", PROSE);
  contents.piece(`${index}.thinking`, delta, "thinking");
  contents.piece(`${index}.content`, delta, "content");
  if (typeof delta.partial_json === "string")
    contents.calls.push({
      channel: `${index}.call`,
      group: `${index}.call`,
      name: null,
      place: { holder: delta, key: "partial_json" },
      form: "piece",
    });
  const citation = objectOf(delta.citation);
  if (citation !== null) citationTexts(citation, contents);
}

function citationTexts(citation: JsonObject, contents: ContentsList): void {
  for (const name of ["cited_text", "document_title", "title"]) contents.whole(citation, name);
}
