import type { Dispatch } from "../../services/models/dispatch.ts";
import type { FileService } from "../../services/files/caller.ts";
import { inPieces, storeAudio } from "../../services/files/store-answer.ts";
import { modelOf } from "../../road/target.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readSpeechRequest } from "../../wire/speech/speech-request.ts";
import { llmRefusals } from "./refusals.ts";

/** POST /audio/speech, OpenAI's own shape (interface 4.2). */
export const speech = (models: Dispatch, files: FileService): Surface => ({
  ...llmRefusals,
  read(_call, body) {
    const inbound = readSpeechRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return {
      view: new InboundView(inbound, ["audio_speech"]),
      answer: (call) => models.speak(call, inbound),
      async written(call, answer) {
        if (!inbound.persist) return answer;
        const description = { kind: null, chatId: inbound.chatId, modelId: modelOf(call)?.id ?? null };
        return { ...answer, headers: { ...answer.headers, ...(await storeAudio(call, files, inPieces(answer.body), description)) } };
      },
    };
  },
});
