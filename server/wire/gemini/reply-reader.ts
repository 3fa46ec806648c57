import type { Candidate, ConversationEvent, ConversationReply, ReplyPart } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import { AnswerReader } from "./answer-reader.ts";
import { listIn, member, objectIn, textIn } from "./members.ts";

/** Reads a complete answer as a stream of one piece, so that both are interpreted alike. Null if it is not an answer. */
export function readGeminiAnswer(body: JsonObject): ConversationReply | null {
  if (member(body, "error") !== undefined) return null;
  const feedback = objectIn(body, "promptFeedback");
  const blocked = feedback !== null && textIn(feedback, "blockReason") !== null;
  if (listIn(body, "candidates").length === 0 && !blocked) return null;
  const reader = new AnswerReader();
  const events = reader.read(body);
  return fold([...events, ...reader.end(true).events]);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Part = ReplyPart extends infer P ? (P extends unknown ? Writable<P> : never) : never;

function fold(events: readonly ConversationEvent[]): ConversationReply {
  const parts = new Map<number, Part[]>();
  const candidates: Candidate[] = [];
  let id: string | null = null;
  let usage: Usage | null = null;
  const partsOf = (candidate: number): Part[] => {
    let list = parts.get(candidate);
    if (list === undefined) {
      list = [];
      parts.set(candidate, list);
    }
    return list;
  };
  for (const event of events) {
    if (event.kind === "start") id = event.id;
    else if (event.kind === "usage") usage = event.usage;
    else if (event.kind === "part_start") partsOf(event.candidate)[event.part] = emptyPart(event);
    else if (event.kind === "picture")
      partsOf(event.candidate)[event.part] = { kind: "picture", mediaType: event.mediaType, base64: event.base64 };
    else if (event.kind === "stop") {
      const { reason: stop, stopSequence, stopDetail } = event;
      candidates.push({ index: event.candidate, parts: partsOf(event.candidate) as ReplyPart[], stop, stopSequence, stopDetail });
    } else if (event.kind === "citation") {
      const part = partsOf(event.candidate)[event.part];
      if (part?.kind === "text") part.citations = [...(part.citations ?? []), event.citation];
    } else if (event.kind === "delta" || event.kind === "signature") {
      const part = partsOf(event.candidate)[event.part];
      if (part === undefined || part.kind === "picture") continue;
      if (event.kind === "signature") Object.assign(part, { signature: event.signature });
      else if (part.kind === "tool_call") part.arguments += event.text;
      else part.text += event.text;
    }
  }
  return { id, candidates, usage };
}

function emptyPart(event: ConversationEvent & { kind: "part_start" }): Part {
  if (event.type === "tool_call") return { kind: "tool_call", id: event.id, name: event.name, arguments: "" };
  if (event.type === "reasoning") return { kind: "reasoning", text: "", redacted: false };
  return { kind: event.type, text: "" };
}
