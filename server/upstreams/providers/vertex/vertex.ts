import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import { JsonDocument, type JsonObject } from "../../../wire/document.ts";
import { geminiMethod, sendPictures } from "../gemini/gemini.ts";
import type { Provider, ProviderReply, ProviderRequest, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { sendEach } from "../send-each.ts";
import { ask, operationNotServed, outboundHeaders, pathSegment, send, withoutSlash } from "../send.ts";
import { AccessTokens } from "./access-tokens.ts";
import { batchReply, predictBodies } from "./embeddings.ts";
import { readServiceAccount } from "./service-account.ts";
import { vertexTraits } from "./traits.ts";

/** What Vertex wants in the body where Anthropic wants it in a header. */
const CLAUDE_VERSION = "vertex-2023-10-16";

/** Google's Vertex AI: Gemini in Google's format, Claude in Anthropic's. */
export function vertexProvider(outbound: Outbound, clock: { now(): number }): Provider {
  const tokens = new AccessTokens(outbound, clock);

  function tokenOf(target: ProviderTarget): Promise<string | Refusal> | string | null {
    const account = target.apiKey === null ? null : readServiceAccount(target.apiKey);
    return account === null ? target.apiKey : tokens.of(account);
  }

  async function sendBody(target: ProviderTarget, request: ProviderRequest, body: string): Promise<ProviderReply | Refusal> {
    const account = target.apiKey === null ? null : readServiceAccount(target.apiKey);
    const token = await tokenOf(target);
    if (token !== null && typeof token !== "string") return token;
    const headers = outboundHeaders(target, request, token === null ? {} : { authorization: `Bearer ${token}` });
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
    if (account !== null && !isRefusal(reply) && reply.response.status === 401) tokens.forget(account);
    return reply;
  }

  return {
    traits: vertexTraits,
    url,
    async ask(target, asked) {
      const token = await tokenOf(target);
      if (token !== null && typeof token !== "string") return token;
      const address = asked.path.startsWith(":") ? `${addressOf(target, "veo")}${asked.path}` : asked.path;
      return ask(
        outbound,
        { url: address, base: placeOf(target).origin, headers: token === null ? {} : { authorization: `Bearer ${token}` } },
        target,
        asked,
      );
    },
    async send(target, request) {
      if (methodOf(request.operation, request.stream) === null) return operationNotServed(target, request.operation);
      if (placeOf(target).project === null) {
        return refuse("upstream_error", "The Vertex provider's base_url must name the Google Cloud project.", {
          reason:
            "the credential is no service account key, so the project must stand in the base_url " +
            "(/v1/projects/{project}/locations/{location})",
        });
      }
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
  const { origin, project, location } = placeOf(target);
  return (
    `${origin}/v1/projects/${pathSegment(project ?? "-")}/locations/${pathSegment(location)}/publishers/` + modelPath(target, operation)
  );
}

interface Place {
  readonly origin: string;
  readonly project: string | null;
  readonly location: string;
}

/** From the base_url where it says so (`…/v1/projects/{project}/locations/{location}`), else from the key file and the host. */
function placeOf(target: ProviderTarget): Place {
  const base = withoutSlash(target.baseUrl);
  const named = /^(.*?)\/v1(?:beta1)?\/projects\/([^/]+)\/locations\/([^/]+)/.exec(base);
  const [, before, project, location] = named ?? [];
  if (before !== undefined && project !== undefined && location !== undefined)
    return { origin: before, project: decodeURIComponent(project), location: decodeURIComponent(location) };
  const host = new URL(base).hostname;
  const byHost = /^([a-z0-9-]+)-aiplatform\./.exec(host)?.[1] ?? null;
  const account = target.apiKey === null ? null : readServiceAccount(target.apiKey);
  return {
    origin: base.replace(/\/v1(?:beta1)?$/, ""),
    project: account?.projectId ?? null,
    location: byHost ?? (host.startsWith("aiplatform.") ? "global" : (target.region ?? "global")),
  };
}

function isClaude(operation: ProviderOperation): boolean {
  return operation === "messages" || operation === "count_tokens";
}

function modelPath({ modelName }: ProviderTarget, operation: ProviderOperation): string {
  // Counting for Claude is a model of its own, and the body says which one is meant.
  if (operation === "count_tokens") return "anthropic/models/count-tokens";
  const name = modelName.split("/").at(-1) as string;
  // Claude's versions stand behind an @, which a path may hold as it is and Google's own clients write so.
  return `${isClaude(operation) ? "anthropic" : "google"}/models/${pathSegment(name).replaceAll("%40", "@")}`;
}

function methodOf(operation: ProviderOperation, stream: boolean): string | null {
  if (operation === "messages") return stream ? ":streamRawPredict" : ":rawPredict";
  if (operation === "count_tokens") return ":rawPredict";
  if (operation === "veo") return ":predictLongRunning";
  return operation === "gemini_embed" || operation === "imagen" ? ":predict" : geminiMethod(operation, stream);
}

/** The model stands in the address, but for counting; everything else of the body stays as it was written. */
function claudeBody({ body, operation }: ProviderRequest): string {
  const document = JsonDocument.read(new TextEncoder().encode(body));
  if (!(document instanceof JsonDocument)) return body;
  const edits = new Map<string, string | null>();
  if (operation === "messages" && document.has("model")) edits.set("model", null);
  if (!document.has("anthropic_version")) edits.set("anthropic_version", JSON.stringify(CLAUDE_VERSION));
  return document.text(edits);
}

async function embed(
  request: ProviderRequest,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
): Promise<ProviderReply | Refusal> {
  const sent = await sendEach(predictBodies(JSON.parse(request.body) as JsonObject), request.timeoutMs, sendOne);
  if (!("answers" in sent)) return sent;
  const reply = batchReply(sent.answers.map(({ body }) => body));
  return reply === null ? refuse("upstream_invalid_response") : { response: Response.json(reply), requestId: sent.requestId };
}
