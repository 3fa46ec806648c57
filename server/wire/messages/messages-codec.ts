import type { ConversationCodec } from "../conversation/codec.ts";
import { questionIn } from "../conversation/question.ts";
import { messagesAnswerTexts } from "./messages-answer-texts.ts";
import { readMessagesFault, writeMessagesFault } from "./fault.ts";
import { readMessagesConversation } from "./read-request.ts";
import { readMessagesAnswer, writeMessagesAnswer } from "./reply-translation.ts";
import { MessagesStreamReader } from "./stream-reader.ts";
import { MessagesStreamWriter } from "./stream-writer.ts";
import { writeMessagesConversation } from "./write-request.ts";
import { sentSettings, systemTexts, textsOf } from "../sent-settings.ts";

/** The Anthropic Messages API. */
export const messagesCodec: ConversationCodec = {
  format: "messages",
  signs: true,
  needsMediaBytes: false,
  answerTexts: messagesAnswerTexts,
  question: (body) => questionIn(body, "messages"),
  // Features without a field in this format keep their neutral name: its callers cannot have requested them.
  spelling: {
    candidates: "candidates",
    logprobs: "logprobs",
    seed: "seed",
    top_k: "top_k",
    stop: "stop_sequences",
    presence_penalty: "presence_penalty",
    frequency_penalty: "frequency_penalty",
    temperature: "temperature",
    top_p: "top_p",
    parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
    tool_choice: "tool_choice",
    tools: "tools",
    tool_strict: "tools[].strict",
    output: "output_config.format",
    reasoning: "thinking",
    end_user: "metadata.user_id",
    image: "messages[].content[].type: image",
    image_detail: "messages[].content[].source",
    file: "messages[].content[].type: document",
    file_name: "messages[].content[].title",
    citations: "messages[].content[].citations",
    audio: "messages[].content[].type: audio",
    cache: "cache_control",
    system_turn: "messages[].role: system",
    messages: "messages",
  },
  readRequest: readMessagesConversation,
  writeRequest: writeMessagesConversation,
  sentSettings: (body) => sentSettings(body.temperature, body.max_tokens, [...textsOf(body.system), ...systemTexts(body.messages)]),
  readReply: readMessagesAnswer,
  writeReply: writeMessagesAnswer,
  streamReader: () => new MessagesStreamReader(),
  streamWriter: (context) => new MessagesStreamWriter(context),
  readFault: readMessagesFault,
  writeFault: writeMessagesFault,
};
