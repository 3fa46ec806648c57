import type { ReplyContext } from "../conversation/codec.ts";
import type { ConversationReply } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { refusalNote } from "../openai/chat/stop.ts";
import { outputItems } from "./output-items.ts";
import { ending, isCut, responseObject } from "./response-object.ts";

/** Writes a complete response. The format has a single answer: further candidates are dropped. */
export function writeResponsesAnswer(reply: ConversationReply, context: ReplyContext): JsonObject {
  const candidate = reply.candidates[0] ?? { index: 0, parts: [], stop: "end" as const, stopSequence: null, stopDetail: null };
  const refused = candidate.parts.some(({ kind }) => kind === "refusal");
  const note = refusalNote(candidate);
  const output = outputItems(
    note === null ? candidate.parts : [...candidate.parts, { kind: "refusal", text: note }],
    isCut(candidate.stop),
    context,
  );
  return responseObject(
    { ...ending(candidate.stop, refused), id: reply.id, output, usage: reply.usage, failure: candidate.stopDetail },
    context,
  );
}
