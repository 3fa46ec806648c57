import type { Usage } from "../usage.ts";
import type { ConversationEvent, ConversationReply, PicturePart, StopReason } from "./reply.ts";
import type { Citation } from "./citations.ts";
import type { AssistantPart, Signature } from "./conversation-parts.ts";

/** Characters per delta, similar to what models send. */
const DELTA = 48;

/** The events of a complete answer, as if it had been streamed. */
export function eventsOfReply(reply: ConversationReply): ConversationEvent[] {
  const events: ConversationEvent[] = [{ kind: "start", id: reply.id }];
  for (const { index: candidate, parts, stop, stopSequence, stopDetail } of reply.candidates) {
    for (const [part, content] of parts.entries()) {
      if (content.kind === "picture") {
        events.push({ candidate, part, ...content });
        continue;
      }
      if (content.kind === "tool_call")
        events.push({ kind: "part_start", candidate, part, type: "tool_call", id: content.id, name: content.name });
      else events.push({ kind: "part_start", candidate, part, type: content.kind });
      for (const text of pieces(content.kind === "tool_call" ? content.arguments : content.text))
        events.push({ kind: "delta", candidate, part, text });
      if (content.kind !== "refusal" && content.signature !== undefined)
        events.push({
          kind: "signature",
          candidate,
          part,
          signature: content.signature,
          redacted: content.kind === "reasoning" && content.redacted,
        });
      if (content.kind === "text")
        for (const citation of content.citations ?? []) events.push({ kind: "citation", candidate, part, citation });
      events.push({ kind: "part_end", candidate, part });
    }
    events.push({ kind: "stop", candidate, reason: stop, stopSequence, stopDetail });
  }
  if (reply.usage !== null) events.push({ kind: "usage", usage: reply.usage });
  return events;
}

/** Never splits a surrogate pair. */
function pieces(text: string): string[] {
  const cut: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + DELTA);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end++;
    cut.push(text.slice(at, end));
    at = end;
  }
  return cut;
}

interface Grown {
  readonly start: Extract<ConversationEvent, { kind: "part_start" }>;
  text: string;
  signature: Signature | null;
  redacted: boolean;
  readonly citations: Citation[];
}

interface GrownCandidate {
  readonly parts: Map<number, Grown | PicturePart>;
  stop: { readonly reason: StopReason; readonly stopSequence: string | null; readonly stopDetail: string | null } | null;
}

/** Assembles a complete answer from stream events; null if it failed or one of its candidates did not end. */
export function replyOfEvents(events: readonly ConversationEvent[]): ConversationReply | null {
  let id: string | null = null;
  let usage: Usage | null = null;
  const candidates = new Map<number, GrownCandidate>();
  for (const event of events) {
    if (event.kind === "fault") return null;
    if (event.kind === "start") id = event.id;
    else if (event.kind === "usage") usage = event.usage;
    else {
      let candidate = candidates.get(event.candidate);
      if (candidate === undefined) candidates.set(event.candidate, (candidate = { parts: new Map(), stop: null }));
      if (event.kind === "stop") candidate.stop = event;
      else if (event.kind === "picture")
        candidate.parts.set(event.part, { kind: "picture", mediaType: event.mediaType, base64: event.base64 });
      else if (event.kind === "part_start")
        candidate.parts.set(event.part, { start: event, text: "", signature: null, redacted: false, citations: [] });
      else grow(candidate.parts.get(event.part), event);
    }
  }
  const whole: ConversationReply["candidates"][number][] = [];
  for (const [index, { parts, stop }] of [...candidates].sort(([a], [b]) => a - b)) {
    if (stop === null) return null;
    whole.push({
      index,
      parts: [...parts].sort(([a], [b]) => a - b).map(([, part]) => ("kind" in part ? part : partOf(part))),
      stop: stop.reason,
      stopSequence: stop.stopSequence,
      stopDetail: stop.stopDetail,
    });
  }
  return whole.length === 0 ? null : { id, candidates: whole, usage };
}

function grow(part: Grown | PicturePart | undefined, event: ConversationEvent): void {
  if (part === undefined || "kind" in part) return;
  if (event.kind === "delta") part.text += event.text;
  else if (event.kind === "citation") part.citations.push(event.citation);
  else if (event.kind === "signature") {
    part.signature = event.signature;
    part.redacted = event.redacted;
  }
}

function partOf({ start, text, signature, redacted, citations }: Grown): AssistantPart {
  const signed = signature === null ? {} : { signature };
  switch (start.type) {
    case "tool_call":
      return { kind: "tool_call", id: start.id, name: start.name, arguments: text === "" ? "{}" : text, ...signed };
    case "reasoning":
      return { kind: "reasoning", text, redacted, ...signed };
    case "refusal":
      return { kind: "refusal", text };
    case "text":
      return { kind: "text", text, ...signed, ...(citations.length > 0 && { citations }) };
  }
}
