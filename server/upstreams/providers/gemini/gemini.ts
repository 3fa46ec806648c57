import type { Outbound } from "../../../runtime/outbound.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { PicturesBody } from "../../../wire/gemini/pictures.ts";
import { type RoomForAnswers, sendEach, withoutBody } from "../send-each.ts";
import type { Provider, ProviderReply, ProviderRequest, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { ask, operationNotServed, outboundHeaders, pathSegment, send, withoutSlash } from "../send.ts";
import { geminiTraits } from "./traits.ts";

/** Google's Gemini API, with an API key. */
export function geminiProvider(outbound: Outbound): Provider {
  return {
    traits: geminiTraits,
    url,
    ask: (target, providerRequest) =>
      ask(
        outbound,
        {
          url: providerRequest.path.startsWith("/") ? `${geminiBase(target)}${providerRequest.path}` : providerRequest.path,
          base: target.baseUrl,
          headers: target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey },
        },
        target,
        providerRequest,
      ),
    async send(target, request) {
      const { operation, stream } = request;
      if (operation !== "gemini_interactions" && geminiMethod(operation, stream) === null) return operationNotServed(target, operation);
      // Not in the query, because URLs are logged.
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey });
      const address = { url: url(target, operation, stream), headers, requestIdHeaders: ["x-request-id", "x-goog-request-id"] };
      const sendOne = (body: string) => send(outbound, { ...address, body }, request);
      return operation === "gemini_images" ? sendPictures(request, sendOne) : sendOne(request.body);
    },
  };
}

/** The general limit of a whole answer, less the JSON between pictures. */
const ROOM_FOR_PICTURES: RoomForAnswers = { mostBytes: 64 * 1024 * 1024 - 1024, billed: ({ usageMetadata = null }) => ({ usageMetadata }) };

/** The body contains the request for one picture and the number of pictures; the answer is a JSON array with one member per picture. */
export async function sendPictures(
  { body, timeoutMs }: ProviderRequest,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
): Promise<ProviderReply | Refusal> {
  const { times, each } = JSON.parse(body) as PicturesBody;
  // Serialised once, because it contains the pictures to edit.
  const one = JSON.stringify(each);
  const bodies = Array.from({ length: times }, () => one);
  const { answers, requestId, failed } = await sendEach(bodies, timeoutMs, sendOne, ROOM_FOR_PICTURES);
  if (failed !== null) {
    if (answers.length === 0) return failed;
    // The pictures made so far are billed, so they are returned.
    await withoutBody(failed);
  }
  return { response: Response.json(answers.map(({ body: drawn }) => drawn)), requestId };
}

/** The method suffix of the model's URL; null if this format has no such operation. */
export function geminiMethod(operation: ProviderOperation, stream: boolean): string | null {
  switch (operation) {
    case "gemini_images":
      return ":generateContent";
    case "gemini":
    case "gemini_speech":
      return stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
    case "gemini_array":
      return ":streamGenerateContent";
    case "gemini_count":
      return ":countTokens";
    case "gemini_embed":
      return ":batchEmbedContents";
    default:
      return null;
  }
}

/** The base URL with its version segment. */
export function geminiBase(target: ProviderTarget): string {
  const base = withoutSlash(target.baseUrl);
  return /\/v\d\w*$/.test(base) ? base : `${base}/v1beta`;
}

/** The URL of the model. */
export function geminiModelAddress(target: ProviderTarget): string {
  // A tuned model's name already contains its prefix.
  const name = /^(?:models|tunedModels)\//.test(target.modelName) ? target.modelName : `models/${target.modelName}`;
  return `${geminiBase(target)}/${name.split("/").map(pathSegment).join("/")}`;
}

function url(target: ProviderTarget, operation: ProviderOperation, stream: boolean): string {
  if (operation === "gemini_interactions") return `${geminiBase(target)}/interactions`;
  return `${geminiModelAddress(target)}${geminiMethod(operation, stream) ?? ""}`;
}
