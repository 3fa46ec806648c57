import type { Candidate, ConversationReply } from "../../conversation/reply.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { newCallId } from "../call-id.ts";
import { citedTexts, functionCalls, pictures } from "./assistant-reader.ts";
import { chatStopDetail, chatStopReason } from "./stop.ts";
import { filledOf, objectOf, objectsOf, wholeOf } from "../loose-fields.ts";
import { usageOfChat } from "../usage.ts";

/** Reads a complete chat completion of OpenAI or a compatible server; null if it is not one. */
export function readChatAnswer(body: JsonObject): ConversationReply | null {
  if (!Array.isArray(body.choices)) return null;
  const id = filledOf(body.id);
  const candidates: Candidate[] = [];
  for (const [choice, place] of objectsOf(body.choices)) {
    const message = objectOf(choice.message) ?? {};
    const index = wholeOf(choice.index) ?? place;
    const calls = functionCalls(message, (call) => newCallId(id, index, call));
    const parts = [...citedTexts(message), ...pictures(message), ...calls];
    const stopSequence = filledOf(choice.stop_reason);
    const stop = chatStopReason(choice.finish_reason, { calls: calls.length > 0, refusal: parts.some(({ kind }) => kind === "refusal") });
    candidates.push({
      index,
      parts,
      stop: stop === "end" && stopSequence !== null ? "stop_sequence" : stop,
      stopSequence,
      stopDetail: chatStopDetail(choice.finish_reason, filledOf(choice.stop_detail)),
    });
  }
  return { id, candidates, usage: usageOfChat(body) };
}
