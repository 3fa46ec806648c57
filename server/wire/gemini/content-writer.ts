import type { Feature, Turn } from "../conversation/request.ts";
import type { ToolResultPart, UserPart } from "../conversation/conversation-parts.ts";
import { groupToolResults } from "../conversation/group-tool-results.ts";
import type { JsonObject, JsonValue } from "../document.ts";
import { writeAssistantPart } from "./assistant-writer.ts";
import { writeMedia } from "./media.ts";
import { generationOf } from "./model-name.ts";
import { writeResponse } from "./tool-results.ts";

/**
 * From this generation on, a call of the running exchange without a signature is refused. Calls that another model made,
 * or whose signature a client lost, carry this word instead, which Google documents for them.
 */
const REQUIRES_SIGNATURES = 3;
const NO_SIGNATURE = "skip_thought_signature_validator";

export interface Unsupported {
  readonly feature: Feature;
  readonly message: string;
}

interface Content {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
}

/** Writes turns as `contents`; system turns are not among them. */
export class ContentWriter {
  readonly unsupported: Unsupported[] = [];
  private readonly toolNames = new Map<string, string>();
  private readonly contents: Content[] = [];

  write(turns: readonly Turn[], model: string): JsonValue[] {
    for (const turn of groupToolResults(turns)) {
      if (turn.role === "assistant") this.assistant(turn);
      else if (turn.role === "user") this.user(turn);
    }
    if ((generationOf(model) ?? 0) >= REQUIRES_SIGNATURES) signCalls(this.contents);
    return this.contents.map(({ role, parts }) => ({ role, parts }));
  }

  /** A call is refused that comes right behind another content of the model, so what the model says in a row is one. */
  private assistant(turn: Turn & { role: "assistant" }): void {
    for (const part of turn.parts) if (part.kind === "tool_call") this.toolNames.set(part.id, part.name);
    const parts = turn.parts.map(writeAssistantPart).filter((part) => part !== null);
    if (parts.length === 0) return;
    const last = this.contents.at(-1);
    if (last?.role === "model") last.parts.push(...parts);
    else this.contents.push({ role: "model", parts });
  }

  private user(turn: Turn & { role: "user" }): void {
    const parts = turn.parts.map((part) => this.part(part)).filter((part) => part !== null);
    if (parts.length > 0) this.contents.push({ role: "user", parts });
  }

  private part(part: UserPart): JsonObject | null {
    if (part.kind === "text") return part.text === "" ? null : { text: part.text };
    if (part.kind === "tool_result") return { functionResponse: this.result(part) };
    return this.media(part);
  }

  private media(part: Exclude<UserPart, { kind: "text" } | { kind: "tool_result" }>): JsonObject | null {
    const written = writeMedia(part);
    if (written === null)
      this.unsupported.push({ feature: part.kind, message: "a file of another provider cannot be sent to this model: send it inline" });
    return written;
  }

  private result(part: ToolResultPart): JsonObject {
    const name = part.toolName ?? this.toolNames.get(part.callId) ?? part.callId;
    const parts = part.content.map((each) => (each.kind === "text" ? null : this.media(each))).filter((each) => each !== null);
    return { id: part.callId, name, response: writeResponse(part), ...(parts.length > 0 && { parts }) };
  }
}

/** Only the first call of each step carries a signature, and only the steps since the user last spoke are checked. */
function signCalls(contents: readonly Content[]): void {
  for (let i = contents.length - 1; i >= 0; i--) {
    const { role, parts } = contents[i] as Content;
    if (role === "user" && parts.some((part) => part.functionResponse === undefined)) return;
    const first = role === "model" ? parts.find((part) => part.functionCall !== undefined) : undefined;
    if (first !== undefined) first.thoughtSignature ??= NO_SIGNATURE;
  }
}
