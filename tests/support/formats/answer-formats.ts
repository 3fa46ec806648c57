import { completionsCodec } from "../../../server/wire/completions/completions-codec.ts";
import { geminiCodec } from "../../../server/wire/gemini/gemini-codec.ts";
import { messagesCodec } from "../../../server/wire/messages/messages-codec.ts";
import { chatCodec } from "../../../server/wire/openai/chat/codec.ts";
import { responsesCodec } from "../../../server/wire/responses/responses-codec.ts";

/** How answers of each caller format hold their texts. */
export const ANSWER_FORMATS = {
  chat: chatCodec.answerTexts,
  completions: completionsCodec.answerTexts,
  responses: responsesCodec.answerTexts,
  messages: messagesCodec.answerTexts,
  gemini: geminiCodec.answerTexts,
};
