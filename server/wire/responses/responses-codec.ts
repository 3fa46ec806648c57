import type { ConversationCodec } from "../conversation/codec.ts";
import { questionIn } from "../conversation/question.ts";
import { objectsOf } from "../openai/loose-fields.ts";
import { referableItems } from "./item-references.ts";
import { responsesAnswerTexts } from "./responses-answer-texts.ts";
import { readOpenAiFault, writeOpenAiFault } from "../openai/fault.ts";
import { readResponsesAnswer } from "./reply-reader.ts";
import { writeResponsesAnswer } from "./reply-writer.ts";
import { readResponsesConversation } from "./request-reader.ts";
import { writeResponsesConversation } from "./request-writer.ts";
import { ResponsesStreamReader } from "./stream-reader.ts";
import { ResponsesStreamWriter } from "./stream-writer.ts";
import { sentSettings, systemTexts, textsOf } from "../sent-settings.ts";

/** OpenAI's Responses format, without the features that depend on stored responses. */
export const responsesCodec: ConversationCodec = {
  format: "responses",
  signs: true,
  needsMediaBytes: false,
  answerTexts: responsesAnswerTexts,
  question: (body) => questionIn(body, "input"),
  spelling: {
    candidates: "n",
    logprobs: "top_logprobs",
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
    tool_strict: "tools[].strict",
    output: "text.format",
    reasoning: "reasoning",
    end_user: "safety_identifier",
    image: "input[].content[].input_image",
    image_detail: "input[].content[].detail",
    file: "input[].content[].input_file",
    file_name: "input[].content[].filename",
    citations: "citations",
    audio: "input[].content[].input_audio",
    cache: "input[].content[].prompt_cache_breakpoint",
    system_turn: "input[].role",
    messages: "input",
  },
  readRequest: readResponsesConversation,
  writeRequest: writeResponsesConversation,
  sentSettings: (body) =>
    sentSettings(body.temperature, body.max_output_tokens, [...textsOf(body.instructions), ...systemTexts(body.input)]),
  readReply: readResponsesAnswer,
  writeReply: writeResponsesAnswer,
  referable: (answer, request) =>
    referableItems(
      objectsOf(answer.output).map(([item]) => item),
      request,
    ),
  streamReader: () => new ResponsesStreamReader(),
  streamWriter: (context) => new ResponsesStreamWriter(context),
  readFault: readOpenAiFault,
  writeFault: writeOpenAiFault,
};
