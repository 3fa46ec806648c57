import { isRefusal } from "../../kernel/errors.ts";
import type { FileService } from "../../services/files/caller.ts";
import { storeAudio } from "../../services/files/store-answer.ts";
import { modelOf } from "../../road/target.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import type { MediaPart, MediaSpool } from "../../services/files/read-media.ts";
import { readMediaForm } from "../../services/files/read-media.ts";
import type { FormBounds } from "../../services/files/upload-form.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { readTranscriptionRequest } from "../../wire/transcriptions/read-transcription.ts";
import { writtenTranscript } from "../../wire/transcriptions/transcript-written.ts";
import { transcriptTexts } from "../../wire/transcriptions/transcript-texts.ts";
import type { TranscriptionRequest } from "../../wire/transcriptions/transcription-request.ts";
import { AWAITED_EVENTS } from "./awaited.ts";
import { llmRefusals } from "./refusals.ts";

/** Reference voices of known speakers come as text fields with some seconds of audio each. */
const BOUNDS: FormBounds = { fields: 40, fieldBytes: 1024 * 1024, files: { file: 1 } };

/** POST /audio/transcriptions and /audio/translations, OpenAI's own shape (interface 4.2). */
export const transcriptions = (
  operation: TranscriptionRequest["operation"],
  models: Dispatch,
  spool: MediaSpool,
  files: FileService,
): Surface => ({
  ...llmRefusals,
  async read(call) {
    const form = await readMediaForm(call, spool, BOUNDS, "audio");
    if (isRefusal(form)) return form;
    const { file } = form.files[0] as MediaPart;
    const inbound = readTranscriptionRequest(operation, form.fields, form.lists, file, form.bytes);
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    call.requestContent = inbound.outbound({ model: inbound.model ?? "" });
    return {
      view: new InboundView(inbound, ["audio_transcription"]),
      output: { texts: transcriptTexts, framing: "events" },
      ...(inbound.stream && { awaited: AWAITED_EVENTS }),
      async answer() {
        const answer = await models.transcribe(call, inbound);
        if (!inbound.persist || isRefusal(answer) || (answer.kind === "whole" && answer.failure !== null)) return answer;
        const description = { kind: null, chatId: inbound.chatId, modelId: modelOf(call)?.id ?? null, displayName: inbound.displayName };
        return { ...answer, headers: { ...answer.headers, ...(await storeAudio(call, files, file.open(), description)) } };
      },
      written(_call, answer) {
        const written = writtenTranscript(answer.body, inbound.format, { stream: inbound.stream, audioSeconds: file.seconds });
        if (written === null) return answer;
        return {
          ...answer,
          headers: { ...answer.headers, "content-type": written.contentType },
          body: new TextEncoder().encode(written.body),
        };
      },
    };
  },
});
