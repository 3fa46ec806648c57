import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { JsonDocument } from "../../../wire/json/document.ts";
import { geminiMethod, sendPictures } from "../gemini/gemini.ts";
import type { AnsweredInPart, Provider, ProviderReply, ProviderRequest, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { jsonTexts, sendEach } from "../send-each.ts";
import { ask, operationNotServed, outboundHeaders, pathSegment, send } from "../send.ts";
import { batchReply, predictBodies } from "./embeddings.ts";
import { objectAnswer } from "../vendor-bucket.ts";
import { gcsBucket } from "./gcs-bucket.ts";
import { GoogleBearers } from "./google-bearers.ts";
import { noProject, vertexPlaceOf } from "./place.ts";
import { vertexTraits } from "./traits.ts";

/** Vertex takes in the body what Anthropic takes in a header. */
const CLAUDE_VERSION = "vertex-2023-10-16";

/** Google's Vertex AI: Gemini in Google's format, Claude in Anthropic's. */
export function vertexProvider(outbound: Outbound, clock: { now(): number }): Provider {
  const bearers = new GoogleBearers(outbound, clock);

  async function sendBody(target: ProviderTarget, request: ProviderRequest, body: string): Promise<ProviderReply | Refusal> {
    const bearer = await bearers.of(target);
    if (isRefusal(bearer)) return bearer;
    const headers = outboundHeaders(target, request, bearer);
    delete headers["anthropic-version"];
    const reply = await send(
      outbound,
      {
        url: url(target, request.operation, request.stream),
        headers,
        body,
        requestIdHeaders: ["request-id", "x-request-id", "x-goog-request-id"],
      },
      request,
    );
    if (!isRefusal(reply) && reply.response.status === 401) bearers.forget(target);
    return reply;
  }

  return {
    traits: vertexTraits,
    url,
    async ask(target, providerRequest) {
      if (providerRequest.path.startsWith("gs://"))
        return objectAnswer(gcsBucket(outbound, bearers, target), providerRequest.path, providerRequest.abort);
      const bearer = await bearers.of(target);
      if (isRefusal(bearer)) return bearer;
      const address = providerRequest.path.startsWith(":") ? `${addressOf(target, "veo")}${providerRequest.path}` : providerRequest.path;
      return ask(outbound, { url: address, base: vertexPlaceOf(target).origin, headers: bearer }, target, providerRequest);
    },
    async send(target, request) {
      if (methodOf(request.operation, request.stream) === null) return operationNotServed(target, request.operation);
      if (vertexPlaceOf(target).project === null) return noProject();
      if (request.operation === "gemini_embed") return embed(request, (body) => sendBody(target, request, body));
      if (request.operation === "gemini_images") return sendPictures(request, (body) => sendBody(target, request, body));
      return sendBody(target, request, isClaude(request.operation) ? claudeBody(request) : request.body);
    },
  };
}

function url(target: ProviderTarget, operation: ProviderOperation, stream: boolean): string {
  return `${addressOf(target, operation)}${methodOf(operation, stream) ?? ""}`;
}

function addressOf(target: ProviderTarget, operation: ProviderOperation): string {
  const { origin, project, location } = vertexPlaceOf(target);
  return (
    `${origin}/v1/projects/${pathSegment(project ?? "-")}/locations/${pathSegment(location)}/publishers/` + modelPath(target, operation)
  );
}

function isClaude(operation: ProviderOperation): boolean {
  return operation === "messages" || operation === "count_tokens";
}

function modelPath({ modelName }: ProviderTarget, operation: ProviderOperation): string {
  // Counting tokens for Claude is a model of its own; the body names the model to count for.
  if (operation === "count_tokens") return "anthropic/models/count-tokens";
  const name = modelName.split("/").at(-1) as string;
  // Claude's versions follow an @, which is valid in a path and not encoded by Google's own clients.
  return `${isClaude(operation) ? "anthropic" : "google"}/models/${pathSegment(name).replaceAll("%40", "@")}`;
}

function methodOf(operation: ProviderOperation, stream: boolean): string | null {
  if (operation === "messages") return stream ? ":streamRawPredict" : ":rawPredict";
  if (operation === "count_tokens") return ":rawPredict";
  if (operation === "veo") return ":predictLongRunning";
  return operation === "gemini_embed" || operation === "imagen" ? ":predict" : geminiMethod(operation, stream);
}

/** Removes the model, which is in the URL except for counting, and adds the version; the rest of the body keeps its bytes. */
export function claudeBody({ body, operation }: Pick<ProviderRequest, "body" | "operation">): string {
  const document = JsonDocument.read(new TextEncoder().encode(body), Number.POSITIVE_INFINITY);
  if (!(document instanceof JsonDocument)) return body;
  const edits = new Map<string, string | null>();
  if (operation === "messages" && document.has("model")) edits.set("model", null);
  if (!document.has("anthropic_version")) edits.set("anthropic_version", JSON.stringify(CLAUDE_VERSION));
  return document.text(edits);
}

async function embed(
  request: ProviderRequest,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
): Promise<ProviderReply | (Refusal & AnsweredInPart)> {
  const { answers, requestId, failed } = await sendEach(
    jsonTexts(predictBodies(JSON.parse(request.body) as JsonObject)),
    request.timeoutMs,
    sendOne,
  );
  const reply = batchReply(answers.map(({ body }) => body));
  if (failed !== null) return reply === null ? failed : { ...failed, answered: reply };
  return reply === null ? refuse("upstream_invalid_response") : { response: Response.json(reply), requestId };
}
