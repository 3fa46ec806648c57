import type { ConversationEvent, ConversationReply } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import type { Usage } from "../usage.ts";

/** The stream events of an answer, its texts cut into pieces of `size`. */
export function eventsOf(reply: ConversationReply, size: number): ConversationEvent[] {
  const events: ConversationEvent[] = [{ kind: "start", id: reply.id }];
  for (const { index: candidate, parts, stop, stopSequence, stopDetail } of reply.candidates) {
    parts.forEach((content, part) => {
      if (content.kind === "picture") return events.push({ candidate, part, ...content });
      if (content.kind === "tool_call")
        events.push({ kind: "part_start", candidate, part, type: "tool_call", id: content.id, name: content.name });
      else events.push({ kind: "part_start", candidate, part, type: content.kind });
      const whole = [...(content.kind === "tool_call" ? content.arguments : content.text)];
      for (let at = 0; at < whole.length; at += size)
        events.push({ kind: "delta", candidate, part, text: whole.slice(at, at + size).join("") });
      if (content.kind === "reasoning" && content.signature !== undefined)
        events.push({ kind: "signature", candidate, part, signature: content.signature, redacted: content.redacted });
      events.push({ kind: "part_end", candidate, part });
    });
    events.push({ kind: "stop", candidate, reason: stop, stopSequence, stopDetail });
  }
  if (reply.usage !== null) events.push({ kind: "usage", usage: reply.usage });
  return events;
}

/** Assembles an answer from events; throws if their order is invalid. */
export function replyOf(events: readonly ConversationEvent[]): ConversationReply {
  let id: string | null = null;
  let counted: Usage | null = null;
  const made = new Map<
    number,
    {
      parts: AssistantPart[];
      open: Set<number>;
      end: { stop: ConversationReply["candidates"][number]["stop"]; stopSequence: string | null; stopDetail: string | null } | null;
    }
  >();
  const of = (candidate: number) => {
    const found = made.get(candidate) ?? { parts: [], open: new Set<number>(), end: null };
    made.set(candidate, found);
    return found;
  };
  events.forEach((event, i) => {
    if ((event.kind === "start") !== (i === 0)) throw new Error(`start at ${i}`);
    if (event.kind === "start") id = event.id;
    else if (event.kind === "usage") counted = event.usage;
    else if (event.kind === "fault") throw new Error(event.fault.message);
    else {
      const { parts, open, end } = of(event.candidate);
      if (end !== null) throw new Error("something after stop");
      if (event.kind === "stop") {
        if (open.size > 0) throw new Error("open parts at stop");
        of(event.candidate).end = { stop: event.reason, stopSequence: event.stopSequence, stopDetail: event.stopDetail };
        return;
      }
      if (event.kind === "part_start") {
        if (event.part !== parts.length) throw new Error("parts out of order");
        open.add(event.part);
        parts.push(
          event.type === "tool_call"
            ? { kind: "tool_call", id: event.id, name: event.name, arguments: "" }
            : event.type === "reasoning"
              ? { kind: "reasoning", text: "", redacted: false }
              : { kind: event.type, text: "" },
        );
        return;
      }
      if (!open.has(event.part)) throw new Error("a part that is not open");
      const part = parts[event.part] as AssistantPart;
      if (event.kind === "delta")
        parts[event.part] =
          part.kind === "tool_call" ? { ...part, arguments: part.arguments + event.text } : { ...part, text: part.text + event.text };
      else if (event.kind === "signature")
        parts[event.part] = { ...(part as AssistantPart & { kind: "reasoning" }), signature: event.signature, redacted: event.redacted };
      else open.delete(event.part);
    }
  });
  const candidates = [...made].map(([index, { parts, end }]) => {
    if (end === null) throw new Error("no stop");
    return { index, parts, ...end };
  });
  return { id, candidates, usage: counted };
}
