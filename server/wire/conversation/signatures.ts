import type { Candidate, ConversationEvent } from "./reply.ts";
import type { AssistantPart, ConversationRequest, ReasoningPart, Signature, ToolCallPart, Turn } from "./request.ts";

/**
 * What a provider wants sent back with a tool call, by the call's id: the call's own signature and the signed reasoning
 * that led to it. Formats without a place for these lose them, and some providers refuse a history without them.
 */
export interface Signed {
  readonly call: Signature | null;
  readonly reasoning: readonly ReasoningPart[];
}

/** Of a whole answer: what is worth keeping, by tool call id. */
export function signedCalls(candidate: Candidate): Map<string, Signed> {
  const found = new Map<string, Signed>();
  const reasoning = candidate.parts.filter((part): part is ReasoningPart => part.kind === "reasoning" && part.signature !== undefined);
  for (const part of candidate.parts) {
    if (part.kind !== "tool_call") continue;
    if (part.signature !== undefined || reasoning.length > 0) found.set(part.id, { call: part.signature ?? null, reasoning });
  }
  return found;
}

/** The same, gathered from the events of a stream. */
export class SignedCallsOfStream {
  private readonly parts = new Map<string, { kind: "reasoning"; text: string; signature: Signature | null; redacted: boolean } | { kind: "tool_call"; id: string; signature: Signature | null }>();

  note(event: ConversationEvent): void {
    if (event.kind === "part_start") {
      if (event.type === "reasoning") this.parts.set(keyOf(event), { kind: "reasoning", text: "", signature: null, redacted: false });
      else if (event.type === "tool_call") this.parts.set(keyOf(event), { kind: "tool_call", id: event.id, signature: null });
    } else if (event.kind === "delta") {
      const part = this.parts.get(keyOf(event));
      if (part?.kind === "reasoning") part.text += event.text;
    } else if (event.kind === "signature") {
      const part = this.parts.get(keyOf(event));
      if (part === undefined) return;
      part.signature = event.signature;
      if (part.kind === "reasoning") part.redacted = event.redacted;
    }
  }

  signed(): Map<string, Signed> {
    const reasoning: ReasoningPart[] = [];
    for (const part of this.parts.values()) {
      if (part.kind === "reasoning" && part.signature !== null) reasoning.push({ kind: "reasoning", text: part.text, signature: part.signature, redacted: part.redacted });
    }
    const found = new Map<string, Signed>();
    for (const part of this.parts.values()) {
      if (part.kind === "tool_call" && (part.signature !== null || reasoning.length > 0)) found.set(part.id, { call: part.signature, reasoning });
    }
    return found;
  }
}

function keyOf({ candidate, part }: { readonly candidate: number; readonly part: number }): string {
  return `${candidate}:${part}`;
}

/** The request with kept signatures put back where its own turns have none. */
export function withSignatures(request: ConversationRequest, kept: (callId: string) => Signed | null): ConversationRequest {
  let changed = false;
  const turns = request.turns.map((turn): Turn => {
    if (turn.role !== "assistant" || !turn.parts.some(({ kind }) => kind === "tool_call")) return turn;
    const parts = signedParts(turn.parts, kept);
    if (parts !== turn.parts) changed = true;
    return parts === turn.parts ? turn : { role: "assistant", parts };
  });
  return changed ? { ...request, turns } : request;
}

function signedParts(parts: readonly AssistantPart[], kept: (callId: string) => Signed | null): readonly AssistantPart[] {
  const reasons = parts.some((part) => part.kind === "reasoning" && part.signature !== undefined);
  let changed = false;
  let restored: readonly ReasoningPart[] = [];
  const signed = parts.map((part): AssistantPart => {
    if (part.kind !== "tool_call") return part;
    const known = kept(part.id);
    if (known === null) return part;
    if (!reasons && restored.length === 0) restored = known.reasoning;
    if (part.signature !== undefined || known.call === null) return part;
    changed = true;
    return { ...part, signature: known.call } satisfies ToolCallPart;
  });
  // Unsigned reasoning that a client sent back would stand beside the signed original.
  if (restored.length > 0) return [...restored, ...signed.filter(({ kind }) => kind !== "reasoning")];
  return changed ? signed : parts;
}
