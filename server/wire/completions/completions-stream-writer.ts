import type { ReplyContext, StreamWriter } from "../conversation/codec.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { writeOpenAiFault } from "../openai/fault.ts";
import { chatUsageMember } from "../openai/usage-member.ts";
import { lineJson } from "../streams/sse-data.ts";
import type { Usage } from "../usage.ts";
import { completionsFinish } from "./completions-writer.ts";

/** Writes a streamed completion in OpenAI's format. */
export class CompletionsStreamWriter implements StreamWriter {
  private readonly context: ReplyContext;
  private readonly shown = new Set<string>();
  private id: string;
  private usage: Usage | null = null;

  constructor(context: ReplyContext) {
    this.context = context;
    this.id = `cmpl-${context.callId}`;
  }

  write(event: ConversationEvent): string {
    switch (event.kind) {
      case "start":
        this.id = event.id ?? this.id;
        return "";
      case "part_start":
        if (event.type === "text" || event.type === "refusal") this.shown.add(`${event.candidate}.${event.part}`);
        return "";
      case "delta":
        return event.text !== "" && this.shown.has(`${event.candidate}.${event.part}`)
          ? this.chunk([{ text: event.text, index: event.candidate, logprobs: null, finish_reason: null }])
          : "";
      case "stop":
        return this.chunk([{ text: "", index: event.candidate, logprobs: null, finish_reason: completionsFinish(event.reason) }]);
      case "usage":
        this.usage = event.usage;
        return "";
      case "fault":
        return `data: ${lineJson(writeOpenAiFault(event.fault))}\n\n`;
      default:
        return "";
    }
  }

  close(): string {
    const usage = this.context.includeUsage && this.usage !== null ? this.chunk([], chatUsageMember(this.usage)) : "";
    return `${usage}data: [DONE]\n\n`;
  }

  private chunk(choices: JsonObject[], usage: JsonObject | null = null): string {
    const { created, model, includeUsage } = this.context;
    const chunk: JsonObject = { id: this.id, object: "text_completion", created, model, choices };
    if (includeUsage) chunk.usage = usage;
    return `data: ${lineJson(chunk)}\n\n`;
  }
}
