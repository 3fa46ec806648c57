import type { ConversationCodec } from "../../conversation/codec.ts";
import { questionIn } from "../../conversation/question.ts";
import { chatAnswerTexts } from "./answer-texts.ts";
import { readChatAnswer } from "./reply-reader.ts";
import { writeChatAnswer } from "./reply-writer.ts";
import { readChatConversation } from "./request-reader.ts";
import { writeChatConversation } from "./request-writer.ts";
import { ChatStreamReader } from "./stream-reader.ts";
import { ChatStreamWriter } from "./stream-writer.ts";
import { readOpenAiFault, writeOpenAiFault } from "../fault.ts";
import { sentSettings, systemTexts } from "../../sent-settings.ts";

/** OpenAI Chat Completions, and the many compatible servers. */
export const chatCodec: ConversationCodec = {
  format: "chat",
  signs: false,
  needsMediaBytes: false,
  answerTexts: chatAnswerTexts,
  question: (body) => questionIn(body, "messages"),
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
    tool_strict: "tools[].function.strict",
    output: "response_format",
    reasoning: "reasoning_effort",
    end_user: "user",
    image: "messages[].content[].image_url",
    image_detail: "messages[].content[].image_url.detail",
    file: "messages[].content[].file",
    file_name: "messages[].content[].file.filename",
    citations: "citations",
    audio: "messages[].content[].input_audio",
    cache: "messages[].content[].prompt_cache_breakpoint",
    system_turn: "messages[].role",
    messages: "messages",
  },
  readRequest: readChatConversation,
  writeRequest: writeChatConversation,
  sentSettings: (body) => sentSettings(body.temperature, body.max_completion_tokens ?? body.max_tokens, systemTexts(body.messages)),
  readReply: readChatAnswer,
  writeReply: writeChatAnswer,
  streamReader: () => new ChatStreamReader(),
  streamWriter: (context) => new ChatStreamWriter(context),
  readFault: readOpenAiFault,
  writeFault: writeOpenAiFault,
};
