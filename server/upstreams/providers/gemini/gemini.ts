import type { Outbound } from "../../../runtime/outbound.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { PicturesBody } from "../../../wire/gemini/pictures.ts";
import { type RoomForAnswers, sendEach, withoutBody } from "../send-each.ts";
import type { Provider, ProviderReply, ProviderRequest, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { ask, operationNotServed, outboundHeaders, pathSegment, send, withoutSlash } from "../send.ts";
import { geminiTraits } from "./traits.ts";

/** Google's Gemini API, with its own key. */
export function geminiProvider(outbound: Outbound): Provider {
  return {
    traits: geminiTraits,
    url,
    ask: (target, asked) =>
      ask(
        outbound,
        {
          url: asked.path.startsWith("/") ? `${geminiBase(target)}${asked.path}` : asked.path,
          base: target.baseUrl,
          headers: target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey },
        },
        target,
        asked,
      ),
    async send(target, request) {
      const { operation, stream } = request;
      if (operation !== "gemini_interactions" && geminiMethod(operation, stream) === null) return operationNotServed(target, operation);
      // Never in the query, where addresses are logged.
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey });
      const address = { url: url(target, operation, stream), headers, requestIdHeaders: ["x-request-id", "x-goog-request-id"] };
      const sendOne = (body: string) => send(outbound, { ...address, body }, request);
      return operation === "gemini_images" ? sendPictures(request, sendOne) : sendOne(request.body);
    },
  };
}

/** As much as any whole answer may have, with what stands between the pictures. */
const ROOM_FOR_PICTURES: RoomForAnswers = { mostBytes: 64 * 1024 * 1024 - 1024, billed: ({ usageMetadata = null }) => ({ usageMetadata }) };

/** The body is that of the call for one picture, and how many there are to be; the answer is a JSON list with a member for each. */
export async function sendPictures(
  { body, timeoutMs }: ProviderRequest,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
): Promise<ProviderReply | Refusal> {
  const { times, each } = JSON.parse(body) as PicturesBody;
  // One text for all calls: it holds the pictures that are to be changed.
  const one = JSON.stringify(each);
  const bodies = Array.from({ length: times }, () => one);
  const { answers, requestId, failed } = await sendEach(bodies, timeoutMs, sendOne, ROOM_FOR_PICTURES);
  if (failed !== null) {
    if (answers.length === 0) return failed;
    // The pictures that were made are billed, and given.
    await withoutBody(failed);
  }
  return { response: Response.json(answers.map(({ body: drawn }) => drawn)), requestId };
}

/** The method behind the model's name; null for what this format does not have. */
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

/** The address with its version. */
export function geminiBase(target: ProviderTarget): string {
  const base = withoutSlash(target.baseUrl);
  return /\/v\d\w*$/.test(base) ? base : `${base}/v1beta`;
}

/** Where the model stands. */
export function geminiModelAddress(target: ProviderTarget): string {
  // A tuned model's name says itself that it is one.
  const name = /^(?:models|tunedModels)\//.test(target.modelName) ? target.modelName : `models/${target.modelName}`;
  return `${geminiBase(target)}/${name.split("/").map(pathSegment).join("/")}`;
}

function url(target: ProviderTarget, operation: ProviderOperation, stream: boolean): string {
  if (operation === "gemini_interactions") return `${geminiBase(target)}/interactions`;
  return `${geminiModelAddress(target)}${geminiMethod(operation, stream) ?? ""}`;
}
