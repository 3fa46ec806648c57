import { responsesAnswerTexts } from "../responses/responses-answer-texts.ts";
import type { AnswerTexts } from "../texts/answer-texts.ts";

/** Texts of the events of a response. They have the members of the Responses stream, but no numbers. */
export const realtimeAnswerTexts: AnswerTexts = { ...responsesAnswerTexts, counter: null };
