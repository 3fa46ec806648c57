import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import { uuid } from "../../../kernel/ids.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import type { AnsweredInPart, Provider, ProviderReply, ProviderRequest, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { jsonTexts, sendEach } from "../send-each.ts";
import { ask, operationNotServed, outboundHeaders, pathSegment, send, withoutSlash } from "../send.ts";
import { objectAnswer } from "../vendor-bucket.ts";
import { authorizeBedrock } from "./authorize.ts";
import { s3Bucket } from "./s3-bucket.ts";
import { bedrockTraits } from "./traits.ts";

/** Amazon Bedrock's runtime: conversations through Converse; embeddings, images and reranking through InvokeModel. */
export function bedrockProvider(outbound: Outbound, clock: { now(): number }): Provider {
  async function sendBody(target: ProviderTarget, request: ProviderRequest, body: string): Promise<ProviderReply | Refusal> {
    const address = url(target, request.operation, request.stream);
    const authorization = await authorizeBedrock(target, { url: address, body }, clock);
    if (isRefusal(authorization)) return authorization;
    const accept = request.stream ? "application/vnd.amazon.eventstream" : "application/json";
    const headers = outboundHeaders(target, request, { accept, ...authorization.headers });
    return send(outbound, { url: address, headers, body, requestIdHeaders: ["x-amzn-requestid"] }, request);
  }
  return {
    traits: bedrockTraits,
    url,
    async ask(target, providerRequest) {
      if (providerRequest.path.startsWith("s3://")) {
        const bucket = s3Bucket(outbound, clock, target);
        return isRefusal(bucket) ? bucket : objectAnswer(bucket, providerRequest.path, providerRequest.abort);
      }
      const address = `${withoutSlash(target.baseUrl)}${providerRequest.path}`;
      if (providerRequest.method === "DELETE") return operationNotServed(target, "bedrock_async");
      const authorization = await authorizeBedrock(
        target,
        { method: providerRequest.method, url: address, body: providerRequest.body ?? "" },
        clock,
      );
      if (isRefusal(authorization)) return authorization;
      return ask(outbound, { url: address, base: target.baseUrl, headers: authorization.headers }, target, providerRequest);
    },
    async send(target, request) {
      if (method(request.operation, request.stream) === null) return operationNotServed(target, request.operation);
      if (request.operation === "bedrock_async") {
        // Checked first, so that no job is started whose result could not be read.
        const bucket = s3Bucket(outbound, clock, target);
        if (isRefusal(bucket))
          return refuse("upstream_auth_failed", undefined, bucket.reason === undefined ? {} : { reason: bucket.reason });
        return sendBody(target, request, JSON.stringify({ ...(JSON.parse(request.body) as JsonObject), clientRequestToken: uuid() }));
      }
      if (request.operation === "bedrock_embed") return embed(request, (body) => sendBody(target, request, body));
      return sendBody(target, request, request.body);
    },
  };
}

/** InvokeModel's input token count, for models whose answers do not include one. */
const INPUT_TOKENS = "x-amzn-bedrock-input-token-count";

/** The body is a JSON array with one member per InvokeModel call, and so is the answer. */
async function embed(
  request: ProviderRequest,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
): Promise<ProviderReply | (Refusal & AnsweredInPart)> {
  const sent = await sendEach(jsonTexts(JSON.parse(request.body) as JsonObject[]), request.timeoutMs, sendOne);
  const answers = sent.answers.map(({ body, headers }) => {
    const counted = headers.get(INPUT_TOKENS);
    return counted === null || body.inputTextTokenCount !== undefined ? body : { ...body, inputTextTokenCount: Number(counted) };
  });
  const { failed, requestId } = sent;
  if (failed !== null) return answers.length === 0 ? failed : { ...failed, answered: answers };
  return { response: Response.json(answers), requestId };
}

const INVOKED: ReadonlySet<ProviderOperation> = new Set(["bedrock_embed", "bedrock_images", "bedrock_rerank"]);

function method(operation: ProviderOperation, stream: boolean): string | null {
  if (operation === "bedrock_async") return "async-invoke";
  if (operation === "converse") return stream ? "converse-stream" : "converse";
  return INVOKED.has(operation) ? "invoke" : null;
}

function url(target: ProviderTarget, operation: ProviderOperation, stream: boolean): string {
  if (operation === "bedrock_async") return `${withoutSlash(target.baseUrl)}/async-invoke`;
  // Model IDs contain colons and ARNs contain slashes; either way they are one path segment.
  return `${withoutSlash(target.baseUrl)}/model/${pathSegment(target.modelName)}/${method(operation, stream) ?? ""}`;
}
