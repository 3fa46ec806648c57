import { refuse } from "../../kernel/errors.ts";
import { type ChatRequest, readChatRequest } from "../../wire/openai/chat-request.ts";
import { type Exchange, isRefusal, type Surface } from "../../governance/surface.ts";
import type { RequestView } from "../../governance/view.ts";
import { llmRefusals } from "./refusals.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** POST /chat/completions: plain and streamed, OpenAI's own shape both ways (interface 4.2). */
export const chatCompletions: Surface = {
  ...llmRefusals,
  read(_call, body) {
    let text: string;
    try {
      text = decoder.decode(body ?? new Uint8Array(0));
    } catch {
      return refuse("invalid_body", undefined, { fields: [{ field: "", message: "is not UTF-8" }] });
    }
    const request = readChatRequest(text);
    if ("fields" in request) return refuse("invalid_body", undefined, { fields: request.fields });
    const view = viewOf(request);
    return {
      view,
      async answer(call, dispatch) {
        const answer = await dispatch.chat(call, request, view.inputCharacters);
        if (!isRefusal(answer) && answer.status < 300) answer.headers["x-gw-ai-generated"] = "true";
        return answer;
      },
    } satisfies Exchange;
  },
};

function viewOf(request: ChatRequest): RequestView {
  let instructions: string | null = null;
  let inputCharacters = 0;
  for (const message of request.messages as { role: string; content?: unknown }[]) {
    const text = textOf(message.content);
    inputCharacters += text.length;
    if (message.role === "system" || message.role === "developer") instructions = instructions === null ? text : `${instructions}\n${text}`;
  }
  return {
    model: { name: request.model, id: request.modelId, mode: "chat" },
    streaming: request.stream,
    temperature: request.temperature,
    maxTokens: request.maxTokens,
    offersTools: request.offersTools,
    instructions,
    inputCharacters,
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content as { text?: unknown }[]) if (typeof part?.text === "string") text += part.text;
  return text;
}
