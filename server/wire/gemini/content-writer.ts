import type { Feature, Turn } from "../conversation/request.ts";
import type { ToolResultPart, UserPart } from "../conversation/conversation-parts.ts";
import { groupToolResults } from "../conversation/group-tool-results.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { writeAssistantPart } from "./assistant-writer.ts";
import { withCallSignatures } from "./call-signatures.ts";
import { writeMedia } from "./media.ts";
import { writeResponse } from "./tool-results.ts";

export interface Unsupported {
  readonly feature: Feature;
  readonly message: string;
}

interface Content {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
}

/** Writes turns as `contents`, without system turns. */
export class ContentWriter {
  readonly unsupported: Unsupported[] = [];
  private readonly toolNames = new Map<string, string>();
  private readonly contents: Content[] = [];

  write(turns: readonly Turn[], model: string): JsonValue[] {
    for (const turn of groupToolResults(turns)) {
      if (turn.role === "assistant") this.assistant(turn);
      else if (turn.role === "user") this.user(turn);
    }
    const contents = this.contents.map(({ role, parts }) => ({ role, parts }));
    return [...withCallSignatures(contents, model)];
  }

  /** Google refuses a call directly after another model content, so consecutive model turns are merged. */
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
