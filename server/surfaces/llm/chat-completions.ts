import { refuse } from "../../kernel/errors.ts";
import { readChatRequest } from "../../wire/openai/chat-request.ts";
import { type Exchange, isRefusal, type Surface } from "../../governance/surface.ts";
import { ChatView } from "./chat-view.ts";
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
    const view = new ChatView(request);
    return {
      view,
      async answer(call, dispatch) {
        const answer = await dispatch.chat(call, view.request, view.inputCharacters);
        if (!isRefusal(answer) && answer.status < 300) answer.headers["x-gw-ai-generated"] = "true";
        return answer;
      },
    } satisfies Exchange;
  },
};
