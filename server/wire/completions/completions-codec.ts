import type { ConversationCodec, RequestRead } from "../conversation/codec.ts";
import { questionIn } from "../conversation/question.ts";
import { completionsAnswerTexts } from "./completions-answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { stopsOf } from "../openai/chat/request-reader.ts";
import { readOpenAiFault, writeOpenAiFault } from "../openai/fault.ts";
import { filledOf, numberOf, stringOf, wholeOf } from "../openai/loose-fields.ts";
import { NOT_ELSEWHERE, ReadReport } from "../openai/read-report.ts";
import { CompletionsStreamReader, readCompletionsAnswer } from "./completions-reader.ts";
import { CompletionsStreamWriter } from "./completions-stream-writer.ts";
import { writeCompletionsAnswer } from "./completions-writer.ts";
import { sentSettings } from "../sent-settings.ts";

/** Members that are translated, or that have no effect on the answer. */
const READ: ReadonlySet<string> = new Set([
  "model",
  "model_id",
  "prompt",
  "stream",
  "stream_options",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "user",
]);

/** A legacy completion request as a conversation of one turn. `body` has passed `readCompletionsRequest`. */
function readRequest(body: JsonObject): RequestRead {
  const report = new ReadReport();
  const prompt = stringOf(body.prompt) ?? (Array.isArray(body.prompt) && body.prompt.length === 1 ? stringOf(body.prompt[0]) : null);
  if (prompt === null) report.refuse("prompt", `${NOT_ELSEWHERE}: only a single text has one`);
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || value === null || value === undefined) continue;
    switch (name) {
      case "suffix":
        if (value !== "") report.refuse(name, NOT_ELSEWHERE);
        break;
      case "echo":
        if (value !== false) report.refuse(name, NOT_ELSEWHERE);
        break;
      case "best_of":
        if (value !== 1) report.refuse(name, NOT_ELSEWHERE);
        break;
      case "logprobs":
        report.refuse(name, NOT_ELSEWHERE);
        break;
      case "logit_bias":
        if (JSON.stringify(value) !== "{}") report.refuse(name, NOT_ELSEWHERE);
        break;
      default:
        report.drop(name);
    }
  }
  if (report.unsupported.length > 0) return { unsupported: report.unsupported };
  return {
    request: {
      instructions: [],
      turns: [{ role: "user", parts: [{ kind: "text", text: prompt ?? "" }] }],
      tools: [],
      toolChoice: null,
      parallelToolCalls: null,
      maxOutputTokens: wholeOf(body.max_tokens),
      temperature: numberOf(body.temperature),
      topP: numberOf(body.top_p),
      topK: wholeOf(body.top_k),
      stop: stopsOf(body.stop),
      seed: numberOf(body.seed),
      presencePenalty: numberOf(body.presence_penalty),
      frequencyPenalty: numberOf(body.frequency_penalty),
      candidates: wholeOf(body.n),
      logprobs: null,
      output: null,
      reasoning: null,
      endUser: filledOf(body.user),
      stream: body.stream === true,
    },
    dropped: report.dropped,
  };
}

/** OpenAI's legacy completions, used for callers only: no provider is called in this format by translation. */
export const completionsCodec: ConversationCodec = {
  format: "completions",
  signs: false,
  needsMediaBytes: false,
  answerTexts: completionsAnswerTexts,
  question: (body) => questionIn(body, "prompt"),
  spelling: {
    candidates: "n",
    logprobs: "logprobs",
    seed: "seed",
    top_k: "top_k",
    stop: "stop",
    presence_penalty: "presence_penalty",
    frequency_penalty: "frequency_penalty",
    temperature: "temperature",
    top_p: "top_p",
    parallel_tool_calls: "parallel_tool_calls",
    tool_choice: "tool_choice",
    tools: "tools",
    tool_strict: "tools",
    output: "response_format",
    reasoning: "reasoning_effort",
    end_user: "user",
    image: "prompt",
    image_detail: "prompt",
    file: "prompt",
    file_name: "prompt",
    citations: "citations",
    audio: "prompt",
    cache: "prompt",
    system_turn: "prompt",
    messages: "prompt",
  },
  readRequest,
  writeRequest: () => ({ unsupported: [{ feature: "messages", message: "this model only completes a text: it takes no conversation" }] }),
  sentSettings: (body) => sentSettings(body.temperature, body.max_tokens, []),
  readReply: readCompletionsAnswer,
  writeReply: writeCompletionsAnswer,
  streamReader: () => new CompletionsStreamReader(),
  streamWriter: (context) => new CompletionsStreamWriter(context),
  readFault: readOpenAiFault,
  writeFault: writeOpenAiFault,
};
