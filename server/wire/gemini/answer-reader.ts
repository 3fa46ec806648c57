import { refuseTooManyParts } from "../streams/stream-bounds.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import type { Signature } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { AnswerCitations } from "./answer-citations.ts";
import { newGeminiCallId } from "./call-ids.ts";
import { readGeminiFault } from "./fault.ts";
import { detailOf, readGeminiStop } from "./finish-reasons.ts";
import { member, numberIn, objectIn, objectsIn, textIn } from "./members.ts";
import { Grounding } from "./grounding.ts";
import { readMedia } from "./media.ts";
import { readGeminiUsage } from "./usage.ts";

interface CandidateState {
  readonly index: number;
  /** The part to which further pieces of the same type are appended. */
  open: { readonly part: number; readonly type: "text" | "reasoning" } | null;
  parts: number;
  calls: number;
  readonly citations: AnswerCitations;
  finish: string | null;
  message: string | null;
}

/**
 * Reads the bodies of an answer, either streamed pieces or a complete one, into the same events. Text pieces are joined
 * unless signed: a signature covers exactly its own piece. Stops are emitted at the end, because a body after a finish
 * reason may still add to the answer.
 */
export class AnswerReader {
  private readonly candidates = new Map<number, CandidateState>();
  private started = false;
  private failed = false;
  private id: string | null = null;
  private blocked: string | null = null;
  private readonly grounding = new Grounding();

  read(body: JsonObject): ConversationEvent[] {
    if (this.failed) return [];
    const error = member(body, "error");
    if (error !== undefined) {
      this.failed = true;
      return [{ kind: "fault", fault: readGeminiFault(0, body) }];
    }
    const events: ConversationEvent[] = [];
    if (!this.started) {
      this.started = true;
      this.id = textIn(body, "responseId");
      events.push({ kind: "start", id: this.id });
    }
    for (const [position, candidate] of objectsIn(body, "candidates").entries()) {
      const state = this.stateOf(indexOf(candidate) ?? position);
      const content = objectIn(candidate, "content");
      for (const [place, part] of (content === null ? [] : objectsIn(content, "parts")).entries()) {
        const read = this.part(state, part);
        for (const event of read) if (event.kind === "delta" && isText(part)) state.citations.text(event.part, place, event.text);
        events.push(...read);
      }
      state.citations.read(candidate);
      state.finish = textIn(candidate, "finishReason") ?? state.finish;
      state.message = textIn(candidate, "finishMessage") ?? state.message;
    }
    const feedback = objectIn(body, "promptFeedback");
    const reason = feedback === null ? null : textIn(feedback, "blockReason");
    if (feedback !== null && reason !== null) this.blocked = detailOf(reason, textIn(feedback, "blockReasonMessage"));
    this.grounding.read(body);
    const usage = this.grounding.of(readGeminiUsage(member(body, "usageMetadata")));
    if (usage !== null) events.push({ kind: "usage", usage });
    return events;
  }

  /** `whole`: nothing more can follow, so a missing finish reason does not make the answer incomplete. */
  end(whole = false): { events: ConversationEvent[]; complete: boolean } {
    const events: ConversationEvent[] = [];
    if (this.failed) return { events, complete: false };
    if (this.candidates.size === 0 && this.blocked !== null) {
      events.push({ kind: "stop", candidate: 0, reason: "filtered", stopSequence: null, stopDetail: this.blocked });
      return { events, complete: true };
    }
    let complete = this.candidates.size > 0;
    for (const state of this.candidates.values()) {
      for (const { part, ...citation } of state.citations.all()) events.push({ kind: "citation", candidate: state.index, part, citation });
      events.push(...this.close(state));
      const finish = state.finish ?? (whole ? "STOP" : null);
      if (finish === null) {
        complete = false;
        continue;
      }
      const { reason, detail } = readGeminiStop(finish, state.message, state.calls > 0);
      events.push({ kind: "stop", candidate: state.index, reason, stopSequence: null, stopDetail: detail });
    }
    return { events, complete };
  }

  private stateOf(index: number): CandidateState {
    let state = this.candidates.get(index);
    if (state === undefined) {
      refuseTooManyParts(this.candidates.size);
      state = { index, open: null, parts: 0, calls: 0, citations: new AnswerCitations(), finish: null, message: null };
      this.candidates.set(index, state);
    }
    return state;
  }

  private part(state: CandidateState, part: JsonObject): ConversationEvent[] {
    const value = textIn(part, "thoughtSignature");
    const signature: Signature | null = value === null || value === "" ? null : { family: "gemini", value };
    const call = objectIn(part, "functionCall");
    const name = call === null ? null : textIn(call, "name");
    if (call !== null && name !== null) return this.call(state, call, name, signature);
    const media = readMedia(part);
    // Draft images among the thoughts are not part of the answer.
    if (media !== null && media !== "private" && media.kind === "image" && "base64" in media.source && member(part, "thought") !== true) {
      return [
        ...this.close(state),
        {
          kind: "picture",
          candidate: state.index,
          part: state.parts++,
          mediaType: media.mediaType ?? "image/png",
          base64: media.source.base64,
        },
      ];
    }
    const text = textIn(part, "text") ?? "";
    if (text === "" && signature === null) return [];
    const type = member(part, "thought") === true ? "reasoning" : "text";
    if (signature !== null) return [...this.close(state), ...this.whole(state, { type }, text, signature)];
    const events: ConversationEvent[] = [];
    if (state.open?.type !== type) {
      events.push(...this.close(state));
      state.open = { part: state.parts++, type };
      events.push({ kind: "part_start", candidate: state.index, part: state.open.part, type });
    }
    events.push({ kind: "delta", candidate: state.index, part: state.open.part, text });
    return events;
  }

  private call(state: CandidateState, call: JsonObject, name: string, signature: Signature | null): ConversationEvent[] {
    const args = JSON.stringify(objectIn(call, "args") ?? {});
    const callId = textIn(call, "id");
    // Without an answer ID, two answers could call the same tool at the same position; the arguments distinguish most of them.
    const id = callId === null || callId === "" ? newGeminiCallId(this.id ?? args, state.index, state.calls, name) : callId;
    state.calls++;
    return [...this.close(state), ...this.whole(state, { type: "tool_call", id, name }, args, signature)];
  }

  private whole(
    state: CandidateState,
    begin: { type: "text" | "reasoning" } | { type: "tool_call"; id: string; name: string },
    text: string,
    signature: Signature | null,
  ): ConversationEvent[] {
    const at = { candidate: state.index, part: state.parts++ };
    const events: ConversationEvent[] = [{ kind: "part_start", ...at, ...begin }];
    if (text !== "") events.push({ kind: "delta", ...at, text });
    if (signature !== null) events.push({ kind: "signature", ...at, signature, redacted: false });
    events.push({ kind: "part_end", ...at });
    return events;
  }

  private close(state: CandidateState): ConversationEvent[] {
    if (state.open === null) return [];
    const { part } = state.open;
    state.open = null;
    return [{ kind: "part_end", candidate: state.index, part }];
  }
}

/** Whether a part is a text of the answer, rather than a call or a thought. */
function isText(part: JsonObject): boolean {
  return objectIn(part, "functionCall") === null && member(part, "thought") !== true;
}

function indexOf(candidate: JsonObject): number | null {
  const index = numberIn(candidate, "index");
  return index !== null && Number.isSafeInteger(index) && index >= 0 ? index : null;
}
