import type { ConversationCodec } from "../conversation/codec.ts";
import { questionIn } from "../conversation/question.ts";
import { geminiAnswerTexts } from "./gemini-answer-texts.ts";
import { readGeminiFault, writeGeminiFault } from "./fault.ts";
import { readGeminiAnswer } from "./reply-reader.ts";
import { writeGeminiAnswer } from "./reply-writer.ts";
import { readGeminiConversation } from "./request-reader.ts";
import { writeGeminiConversation } from "./request-writer.ts";
import { GeminiStreamReader } from "./stream-reader.ts";
import { geminiSseWriter } from "./stream-writer.ts";
import { sentSettings, textsOf } from "../sent-settings.ts";
import { isObject } from "../../kernel/json-value.ts";

/** Google's generateContent format in both directions. The model, and whether the answer is streamed, are in the URL only. */
export const geminiCodec: ConversationCodec = {
  format: "gemini",
  signs: true,
  needsMediaBytes: true,
  answerTexts: geminiAnswerTexts,
  question: (body) => questionIn(body, "contents"),
  spelling: {
    candidates: "generationConfig.candidateCount",
    logprobs: "generationConfig.responseLogprobs",
    seed: "generationConfig.seed",
    top_k: "generationConfig.topK",
    stop: "generationConfig.stopSequences",
    presence_penalty: "generationConfig.presencePenalty",
    frequency_penalty: "generationConfig.frequencyPenalty",
    temperature: "generationConfig.temperature",
    top_p: "generationConfig.topP",
    parallel_tool_calls: "toolConfig",
    tool_choice: "toolConfig.functionCallingConfig",
    tools: "tools",
    tool_strict: "tools",
    output: "generationConfig.responseMimeType",
    reasoning: "generationConfig.thinkingConfig",
    end_user: "labels",
    image: "contents.parts.inlineData",
    image_detail: "generationConfig.mediaResolution",
    file: "contents.parts.inlineData",
    file_name: "contents[].parts[].inlineData.displayName",
    citations: "citations",
    audio: "contents.parts.inlineData",
    cache: "cachedContent",
    system_turn: "systemInstruction",
    messages: "contents",
  },
  readRequest: readGeminiConversation,
  writeRequest: writeGeminiConversation,
  sentSettings: ({ generationConfig: config, systemInstruction: system }) =>
    sentSettings(
      isObject(config) ? config.temperature : null,
      isObject(config) ? config.maxOutputTokens : null,
      isObject(system) ? textsOf(system.parts) : [],
    ),
  readReply: readGeminiAnswer,
  writeReply: writeGeminiAnswer,
  streamReader: () => new GeminiStreamReader(),
  streamWriter: geminiSseWriter,
  readFault: readGeminiFault,
  writeFault: writeGeminiFault,
};
