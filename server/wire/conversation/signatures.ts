import type { Candidate, ConversationEvent } from "./reply.ts";
import type { ConversationRequest, Turn } from "./request.ts";
import type { AssistantPart, ReasoningPart, Signature, ToolCallPart } from "./conversation-parts.ts";
import { UniqueCallIds } from "./unique-call-ids.ts";

/**
 * What a provider requires back with a tool call: the call's own signature, and the signed reasoning that led to it.
 * Formats that cannot carry these lose them, and some providers refuse a history without them.
 */
export interface Signed {
  readonly call: Signature | null;
  readonly reasoning: readonly ReasoningPart[];
}

/**
 * The signatures of a complete answer by tool call ID; null where nothing was signed. Repeated IDs are made unique as
 * answer writers do.
 */
export function signedCalls(candidate: Candidate): Map<string, Signed | null> {
  return byCall(
    candidate.parts.flatMap((part) => (part.kind === "tool_call" ? [{ id: part.id, signature: part.signature ?? null }] : [])),
    candidate.parts.filter((part): part is ReasoningPart => part.kind === "reasoning" && part.signature !== undefined),
  );
}

function byCall(
  calls: readonly { readonly id: string; readonly signature: Signature | null }[],
  reasoning: readonly ReasoningPart[],
): Map<string, Signed | null> {
  const ids = new UniqueCallIds();
  return new Map(
    calls.map(({ id, signature }) => [ids.of(id), signature !== null || reasoning.length > 0 ? { call: signature, reasoning } : null]),
  );
}

interface StreamedReasoning {
  readonly kind: "reasoning";
  text: string;
  signature: Signature | null;
  redacted: boolean;
}

interface StreamedCall {
  readonly kind: "tool_call";
  readonly id: string;
  signature: Signature | null;
}

/** As `signedCalls`, collected from the events of a stream. */
export class SignedCallsOfStream {
  /** The parts of each candidate by number, in order of their start. */
  private readonly candidates = new Map<number, Map<number, StreamedReasoning | StreamedCall>>();

  note(event: ConversationEvent): void {
    if (event.kind === "part_start") {
      if (event.type === "reasoning")
        this.partsOf(event.candidate).set(event.part, { kind: "reasoning", text: "", signature: null, redacted: false });
      else if (event.type === "tool_call")
        this.partsOf(event.candidate).set(event.part, { kind: "tool_call", id: event.id, signature: null });
    } else if (event.kind === "delta") {
      const part = this.candidates.get(event.candidate)?.get(event.part);
      if (part?.kind === "reasoning") part.text += event.text;
    } else if (event.kind === "signature") {
      const part = this.candidates.get(event.candidate)?.get(event.part);
      if (part === undefined) return;
      part.signature = event.signature;
      if (part.kind === "reasoning") part.redacted = event.redacted;
    }
  }

  signed(candidate: number): Map<string, Signed | null> {
    const parts = [...this.partsOf(candidate).values()];
    const reasoning = parts.flatMap((part): ReasoningPart[] =>
      part.kind === "reasoning" && part.signature !== null
        ? [{ kind: "reasoning", text: part.text, signature: part.signature, redacted: part.redacted }]
        : [],
    );
    return byCall(
      parts.filter((part) => part.kind === "tool_call"),
      reasoning,
    );
  }

  private partsOf(candidate: number): Map<number, StreamedReasoning | StreamedCall> {
    let parts = this.candidates.get(candidate);
    if (parts === undefined) this.candidates.set(candidate, (parts = new Map()));
    return parts;
  }
}

/** The distinct IDs of calls in a history that lack their signature. */
export function unsignedCallIds(request: ConversationRequest): string[] {
  const found = new Set<string>();
  for (const { role, parts } of request.turns) {
    if (role !== "assistant") continue;
    const ids = new UniqueCallIds();
    const reasons = hasSignedReasoning(parts);
    for (const part of parts) {
      if (part.kind !== "tool_call") continue;
      const id = ids.of(part.id);
      if (part.signature === undefined || !reasons) found.add(id);
    }
  }
  return [...found];
}

/** The request with stored signatures restored in turns that lack them. */
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
  const reasons = hasSignedReasoning(parts);
  const ids = new UniqueCallIds();
  let changed = false;
  let restored: readonly ReasoningPart[] = [];
  const signed = parts.map((part): AssistantPart => {
    if (part.kind !== "tool_call") return part;
    const known = kept(ids.of(part.id));
    if (known === null) return part;
    if (!reasons && restored.length === 0) restored = known.reasoning;
    if (part.signature !== undefined || known.call === null) return part;
    changed = true;
    return { ...part, signature: known.call } satisfies ToolCallPart;
  });
  // Unsigned reasoning sent back by the client would duplicate the signed original.
  if (restored.length > 0) return [...restored, ...signed.filter(({ kind }) => kind !== "reasoning")];
  return changed ? signed : parts;
}

function hasSignedReasoning(parts: readonly AssistantPart[]): boolean {
  return parts.some((part) => part.kind === "reasoning" && part.signature !== undefined);
}
