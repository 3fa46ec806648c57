import { type Refusal, isRefusal, refuse } from "../../../kernel/errors.ts";
import { arrivalOf, type Call } from "../../../road/call.ts";
import type { JsonValue } from "../../../kernel/json-value.ts";
import { ImageEditRequest } from "../../../wire/images/image-edit-request.ts";
import { onlyPictures, readImagesReply } from "../../../wire/images/images-reply.ts";
import type { PicturesCodec, PicturesRead } from "../../../wire/images/pictures-codec.ts";
import { PictureStream } from "../../../wire/images/picture-stream.ts";
import type { PicturesRequest } from "../../../wire/images/pictures-request.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import { estimateTokens } from "../../../wire/usage.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Provider } from "../../../upstreams/providers/provider.ts";
import { providerOf, targetOf } from "../routing/attempt.ts";
import { inBase64, type ShownParts } from "../media/shown-files.ts";
import { picturesAsBytes } from "../media/picture-bytes.ts";
import type { ModelRequest, PreparedRequest, WholeAnswerReading } from "./model-request.ts";
import { pictureTokens, pictureUsage, imageAnswer } from "../media/image-answer.ts";
import { refusedByProvider } from "../routing/refused-by-provider.ts";

/** An image generation or edit, for any provider with such models. */
export function imagesModelRequest(request: PicturesRequest, { providers, room }: ShownParts): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    usageOfSending() {
      const { count, tokensEach } = request.pictures;
      const output = count * tokensEach;
      const inputUncached = estimateTokens(request.inputCharacters);
      return pictureUsage(request, { ...onlyPictures(count), inputUncached, output, imageOutput: output });
    },
    prepare(call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const refusal = qualityRefusal(request, model);
      if (refusal !== null) return refusal;
      return passing(call, request, model, provider) ?? translating(call, request, model, provider, room);
    },
  };
}

/** For a stream that is held back, as for whole answers with pictures. */
const MAX_HELD = 64 * 1024 * 1024;
const WHOLE = { stream: false, sent: NOTHING_SENT, headers: {}, streamCodec: () => null, streamType: null } as const;

/** Null if the provider does not take OpenAI's format for this operation. */
function passing(call: Call, request: PicturesRequest, model: ModelEntry, provider: Provider): PreparedRequest | null {
  if (provider.traits.passes?.has(request.operation) !== true) return null;
  const { operation, stream, inputCharacters, pictures } = request;
  const tokensEach = Math.min(pictures.tokensEach, model.maxOutputTokens ?? pictures.tokensEach);
  return {
    ...WHOLE,
    operation,
    stream,
    streamCodec: () => (stream ? new PictureStream({ ...pictures, tokensEach }, inputCharacters) : null),
    streamType: "text/event-stream",
    mostHeld: MAX_HELD,
    body: request.outbound({ model: model.modelName }),
    ...(request instanceof ImageEditRequest && { form: request.form({ model: model.modelName }) }),
    whole(bytes) {
      const reply = readImagesReply(bytes);
      if (reply === null) return null;
      const { body, usage } = reply;
      const bytesOf = picturesAsBytes(body, provider, targetOf(model));
      if (bytesOf === null) return imageAnswer(call, model, body, pictureUsage(request, usage));
      return bytesOf.then((drawn) => (drawn === null ? null : imageAnswer(call, model, drawn, pictureUsage(request, usage))));
    },
    refusal: () => null,
    dropped: [],
  };
}

async function translating(
  call: Call,
  request: PicturesRequest,
  model: ModelEntry,
  { traits }: Provider,
  room: ShownParts["room"],
): Promise<PreparedRequest | Refusal> {
  const codec = traits.pictures?.(model) ?? null;
  const edits = request instanceof ImageEditRequest;
  if (codec === null || (edits && codec.mostShown === null))
    return refuse("unsupported_parameter", `No ${edits ? "image edits" : "images"} are served for this model's provider.`);
  if (edits && request.masked)
    return refuse("unsupported_parameter", undefined, { fields: [{ field: "mask", message: "this model's provider takes none" }] });
  // Checked before the files are read, because they may not fit into memory.
  if (edits && base64BytesOf(request) > (codec.mostShown ?? 0))
    return refuse("unsupported_parameter", undefined, { fields: [{ field: "image", message: tooMuchInBase64(codec.mostShown ?? 0) }] });
  room.release(call);
  const shown = edits
    ? await inBase64(
        call,
        request.files.map(({ file }) => file),
        room,
      )
    : [];
  if (isRefusal(shown)) return shown;
  const written = codec.write(request.requested(shown));
  if ("unsupported" in written) return refuse("unsupported_parameter", undefined, { fields: [written.unsupported] });
  return {
    ...WHOLE,
    operation: codec.operation,
    body: written.body,
    whole: (bytes) => readTranslated(call, model, codec, bytes, request),
    declined(bytes) {
      const read = readPictures(codec, bytes);
      if (read === null || read.pictures.length > 0) return null;
      return { declined: refuse("picture_declined", undefined, { reason: read.declined ?? undefined }), usage: read.usage };
    },
    refusal: refusedByProvider,
    dropped: written.dropped,
  };
}

const base64BytesOf = ({ files }: ImageEditRequest): number => files.reduce((sum, { file }) => sum + 4 * Math.ceil(file.bytes / 3), 0);

const tooMuchInBase64 = (most: number): string =>
  `is larger than ${most / 1024 / 1024} MiB in base64, which is all this model's provider takes`;

function readPictures(codec: PicturesCodec, bytes: Uint8Array): PicturesRead | null {
  try {
    return codec.read(JSON.parse(new TextDecoder().decode(bytes)) as JsonValue);
  } catch {
    return null;
  }
}

function readTranslated(
  call: Call,
  model: ModelEntry,
  codec: PicturesCodec,
  bytes: Uint8Array,
  request: PicturesRequest,
): WholeAnswerReading | null {
  const read = readPictures(codec, bytes);
  if (read === null || read.pictures.length === 0) return null;
  const { pictures, usage } = read;
  const data = pictures.map((b64_json) => ({ b64_json }));
  const counted = pictureUsage(request, { ...(usage ?? onlyPictures(0)), images: pictures.length });
  const tokens = usage === null ? {} : { usage: pictureTokens(usage) };
  return imageAnswer(call, model, { created: Math.floor(arrivalOf(call) / 1000), data, ...tokens }, counted);
}

function qualityRefusal({ quality }: PicturesRequest, { supportedImageQualities = [] }: ModelEntry): Refusal | null {
  if (quality === null || supportedImageQualities.length === 0 || supportedImageQualities.includes(quality)) return null;
  return refuse("unsupported_parameter", undefined, {
    fields: [{ field: "quality", message: `must be one of ${supportedImageQualities.join(", ")} for this model` }],
  });
}
