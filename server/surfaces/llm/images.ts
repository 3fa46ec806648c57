import { isRefusal } from "../../kernel/errors.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import type { FormBounds } from "../../services/files/upload-form.ts";
import { type MediaSpool, readMediaForm } from "../../services/files/read-media.ts";
import { type AnswerStore, withAddresses } from "../../services/files/store-answer.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { WholeAnswer } from "../../road/answer.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readImagesRequest } from "../../wire/images/images-request.ts";
import { pictureEvents } from "../../wire/images/picture-events.ts";
import { pictureTexts } from "../../wire/images/picture-texts.ts";
import type { PicturesRequest } from "../../wire/images/pictures-request.ts";
import { readImageEditRequest } from "../../wire/images/read-image-edit.ts";
import { sentFile } from "../../wire/http/sent-file.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { AWAITED_EVENTS } from "./awaited.ts";
import { llmRefusals } from "./refusals.ts";

const BOUNDS: FormBounds = { fields: 40, fieldBytes: 128 * 1024, files: { image: 16, "image[]": 16, mask: 1 } };

function drawing(models: Dispatch, store: AnswerStore, inbound: PicturesRequest): Exchange {
  return {
    view: new InboundView(inbound, ["image"]),
    output: { texts: pictureTexts, framing: "events" },
    ...(inbound.stream && { awaited: AWAITED_EVENTS }),
    answer: (call) => models.draw(call, inbound),
    ...(inbound.asAddresses && {
      written: (call, answer) => withAddresses(call, answer, store, { chatId: inbound.chatId, displayName: inbound.displayName }),
    }),
    ...(inbound.stream && { written: (_call, answer) => asEvents(answer, inbound) }),
  };
}

/** Most image models do not stream and answer whole, but a caller who asked for a stream reads only events. */
function asEvents(answer: WholeAnswer, inbound: PicturesRequest): WholeAnswer {
  const body = replyObject(answer.body);
  if (body === null) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, "content-type": "text/event-stream" },
    body: new TextEncoder().encode(pictureEvents(body, inbound)),
  };
}

/** POST /images/generations, OpenAI's own shape (interface 4.2). */
export const imageGenerations = (models: Dispatch, store: AnswerStore): Surface => ({
  ...llmRefusals,
  read(_call, body) {
    const inbound = readImagesRequest(body ?? new Uint8Array(0));
    return "fields" in inbound ? invalidRequest(inbound.fields) : drawing(models, store, inbound);
  },
});

/** POST /images/edits, OpenAI's own shape. */
export const imageEdits = (models: Dispatch, spool: MediaSpool, store: AnswerStore): Surface => ({
  ...llmRefusals,
  async read(call) {
    const form = await readMediaForm(call, spool, BOUNDS, "image");
    if (isRefusal(form)) return form;
    const inbound = readImageEditRequest(
      form.fields,
      form.files.map(({ field, file }) => sentFile(field, file)),
      form.bytes,
    );
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    call.requestContent = inbound.outbound({ model: inbound.model ?? "" });
    return drawing(models, store, inbound);
  },
});
