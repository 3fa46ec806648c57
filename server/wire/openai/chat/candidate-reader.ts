import { refuseTooManyParts } from "../../streams/stream-bounds.ts";
import { JoinedText } from "../../conversation/citations.ts";
import type { ConversationEvent } from "../../conversation/reply.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { newCallId } from "../call-id.ts";
import { citationEvents } from "../annotations.ts";
import { argumentsText, contentPieces, pictures } from "./assistant-reader.ts";
import { chatStopDetail, chatStopReason } from "./stop.ts";
import { filledOf, objectOf, objectsOf, textOrJson, wholeOf } from "../loose-fields.ts";

type TextKind = "text" | "reasoning" | "refusal";

/** The index used for a call in the older form, which has none. */
const OLDER = -1;

interface OpenCall {
  id: string | null;
  readonly place: number;
  /** Null until the call's name is known: only then can it start. */
  part: number | null;
  held: string;
  filled: boolean;
}

/**
 * Reads one choice of a streamed chat completion. Texts of one kind form a part until another kind follows; calls stay
 * open until the end, because their fragments may be interleaved.
 */
export class CandidateReader {
  private readonly index: number;
  private readonly answerId: string | null;
  private readonly emit: (event: ConversationEvent) => void;
  private readonly calls: OpenCall[] = [];
  private readonly callAt = new Map<number, OpenCall>();
  private readonly callOf = new Map<string, OpenCall>();
  private text: { readonly kind: TextKind; readonly part: number } | null = null;
  private readonly content = new JoinedText();
  private parts = 0;
  private refused = false;
  stopped = false;

  constructor(index: number, answerId: string | null, emit: (event: ConversationEvent) => void) {
    this.index = index;
    this.answerId = answerId;
    this.emit = emit;
  }

  read(choice: JsonObject): void {
    if (this.stopped) return;
    const delta = objectOf(choice.delta);
    if (delta !== null) {
      this.piece("reasoning", filledOf(delta.reasoning_content) ?? filledOf(delta.reasoning));
      for (const { kind, text } of contentPieces(delta.content)) this.piece(kind, text);
      for (const event of citationEvents(this.index, delta.annotations, this.content)) this.emit(event);
      this.piece("refusal", filledOf(delta.refusal));
      for (const { mediaType, base64 } of pictures(delta)) {
        this.endText();
        this.emit({ kind: "picture", candidate: this.index, part: this.parts++, mediaType, base64 });
      }
      for (const [fragment] of objectsOf(delta.tool_calls))
        this.fragment(objectOf(fragment.function), wholeOf(fragment.index), filledOf(fragment.id));
      // If a call is present in both the current and the older form, it is the same call.
      if (this.calls.length === 0 || this.callAt.has(OLDER)) this.fragment(objectOf(delta.function_call), OLDER, null);
    }
    if (filledOf(choice.finish_reason) !== null)
      this.stop(choice.finish_reason, filledOf(choice.stop_reason), filledOf(choice.stop_detail));
  }

  stop(finish: unknown, stopSequence: string | null, stopDetail: string | null): void {
    if (this.stopped) return;
    this.stopped = true;
    this.endText();
    for (const call of this.calls) this.endCall(call);
    const reason = chatStopReason(finish, { calls: this.calls.some(({ part }) => part !== null), refusal: this.refused });
    this.emit({
      kind: "stop",
      candidate: this.index,
      reason: reason === "end" && stopSequence !== null ? "stop_sequence" : reason,
      stopSequence,
      stopDetail: chatStopDetail(finish, stopDetail),
    });
  }

  private piece(kind: TextKind, text: string | null): void {
    if (text === null) return;
    if (this.text?.kind !== kind) {
      this.endText();
      this.text = { kind, part: this.parts++ };
      if (kind === "refusal") this.refused = true;
      this.emit({ kind: "part_start", candidate: this.index, part: this.text.part, type: kind });
    }
    this.emit({ kind: "delta", candidate: this.index, part: this.text.part, text });
    if (kind === "text") this.content.add(this.text.part, text);
  }

  private endText(): void {
    if (this.text !== null) this.emit({ kind: "part_end", candidate: this.index, part: this.text.part });
    this.text = null;
  }

  private fragment(called: JsonObject | null, index: number | null, id: string | null): void {
    // Other kinds of calls are ignored, because translated requests do not offer such tools.
    if (called === null) return;
    const name = filledOf(called.name);
    const call = this.callFor(index, id, name);
    call.id ??= id;
    if (call.id !== null && !this.callOf.has(call.id)) this.callOf.set(call.id, call);
    if (call.part === null && name !== null) {
      this.endText();
      call.part = this.parts++;
      this.emit({
        kind: "part_start",
        candidate: this.index,
        part: call.part,
        type: "tool_call",
        id: call.id ?? newCallId(this.answerId, this.index, call.place),
        name,
      });
    }
    call.held += textOrJson(called.arguments) ?? "";
    // Held back as long as it may be `null`, which some servers send instead of arguments.
    if (call.part === null || call.held === "" || (!call.filled && "null".startsWith(call.held.trim()))) return;
    call.filled = true;
    this.emit({ kind: "delta", candidate: this.index, part: call.part, text: call.held });
    call.held = "";
  }

  /** Some servers give every call index 0, some give none: then a new ID with a name starts a new call. */
  private callFor(index: number | null, id: string | null, name: string | null): OpenCall {
    const known = index === null ? ((id === null ? undefined : this.callOf.get(id)) ?? this.calls.at(-1)) : this.callAt.get(index);
    const another =
      name !== null &&
      known !== undefined &&
      known.part !== null &&
      (index === null ? id === null || known.id !== id : id !== null && known.id !== null && known.id !== id);
    if (known !== undefined && !another) return known;
    refuseTooManyParts(this.calls.length);
    const call: OpenCall = { id: null, place: this.calls.length, part: null, held: "", filled: false };
    this.calls.push(call);
    if (index !== null) this.callAt.set(index, call);
    return call;
  }

  private endCall(call: OpenCall): void {
    if (call.part === null) return;
    if (!call.filled) this.emit({ kind: "delta", candidate: this.index, part: call.part, text: argumentsText(call.held) });
    this.emit({ kind: "part_end", candidate: this.index, part: call.part });
  }
}
