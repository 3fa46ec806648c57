import * as media from "@gatehouse/contracts/media-api";
import * as api from "@gatehouse/contracts/runtime-api";
import { discoveryEvents, discoveryEventsTaken } from "@gatehouse/contracts/discovery";
import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";
import { azurePath } from "../azure/azure-routes.ts";
import { BATCH_ROUTES } from "./batch-routes.ts";
import { VIDEO_ROUTES } from "./video-routes.ts";
import { FILE_ROUTES } from "./file-routes.ts";

/** Descriptions of the protocol routes in the runtime plane's OpenAPI document, by method and path as in the route table. */

const EVENTS = "text/event-stream";
const MODELS = "/v1/proxy/llm";
const BROKER = "/v1/proxy/oauth/:server_id/:idp_server_id";
const WELL_KNOWN = "/.well-known";

const json = (schema: z.ZodType): DescribedAnswer => ({ status: 200, schema });
const maybeStreamed = (schema: z.ZodType): DescribedAnswer => ({ status: 200, schema, media: EVENTS });

function route(tag: string, summary: string, answer: DescribedAnswer, body?: z.ZodType, error: z.ZodType = runtimeError): DescribedRoute {
  return { tag, summary, answer, error, ...(body === undefined ? {} : { body }) };
}

const openai = (summary: string, answer: DescribedAnswer, body?: z.ZodType) => route("OpenAI's formats", summary, answer, body);
const anthropic = (summary: string, answer: DescribedAnswer, body?: z.ZodType): DescribedRoute => ({
  ...route("Anthropic's format", summary, answer, body),
  optionalHeaders: ["anthropic-version"],
});
const google = (summary: string, answer: DescribedAnswer, body?: z.ZodType) => route("Google's format", summary, answer, body);
const mcp = (summary: string, answer: DescribedAnswer, body?: z.ZodType) => route("Tool servers", summary, answer, body, api.rpcMessage);
const oauth = (summary: string, answer: DescribedAnswer, body?: z.ZodType) =>
  route("OAuth of tool servers", summary, answer, body, api.oauthError);

function gemini(root: string): Record<string, DescribedRoute> {
  return {
    [`POST ${root}/:call:generateContent`]: google("Generate content", json(api.geminiAnswer), api.geminiRequest),
    [`POST ${root}/:call:streamGenerateContent`]: google("Generate content, streamed", maybeStreamed(api.vendorModel), api.geminiRequest),
    [`POST ${root}/:call:countTokens`]: google("Count tokens", json(api.geminiCount), api.geminiCountRequest),
    [`POST ${root}/:call:embedContent`]: google("Embed content", json(api.geminiEmbedding), api.geminiEmbedRequest),
    [`POST ${root}/:call:batchEmbedContents`]: google(
      "Embed contents in a batch",
      json(api.geminiEmbeddingsAnswer),
      api.geminiBatchEmbedRequest,
    ),
  };
}

function discovery(name: string, summary: string, ...paths: readonly string[]): Record<string, DescribedRoute> {
  return Object.fromEntries(paths.map((path) => [`GET ${path.replace("NAME", name)}`, oauth(summary, json(api.metadataDocument))]));
}

const AGENT = "/a2a/:tenant_id/:card_name";
const TASK = `${AGENT}/tasks/:task_id`;
const agent = (summary: string, answer: DescribedAnswer, body?: z.ZodType) => route("Agents", summary, answer, body, api.agentProblem);
const message = () => json(api.agentMessage);
const updates: DescribedAnswer = { status: 200, media: EVENTS };

const AGENTS: Readonly<Record<string, DescribedRoute>> = {
  ...Object.fromEntries(
    [`/.well-known/agent-card/:tenant_id/:card_name`, `${AGENT}/.well-known/agent-card.json`, `${AGENT}/.well-known/agent.json`].map(
      (path) => [`GET ${path}`, agent("Agent card", json(api.agentCardDocument))],
    ),
  ),
  "GET /.well-known/a2a-jwks/:tenant_id": agent("Keys that sign agent cards (JWKS)", json(api.metadataDocument)),
  [`POST ${AGENT}/message:send`]: agent("Send a message", message(), api.agentMessage),
  [`POST ${AGENT}/message:stream`]: agent("Send a message, streamed", updates, api.agentMessage),
  [`GET ${AGENT}/tasks`]: agent("List tasks", message()),
  [`GET ${TASK}`]: agent("Retrieve a task", message()),
  [`POST ${AGENT}/tasks/:task:cancel`]: agent("Cancel a task", message(), api.agentMessage),
  [`GET ${AGENT}/tasks/:task:subscribe`]: agent("Subscribe to a task", updates),
  [`POST ${AGENT}/tasks/:task:subscribe`]: agent("Subscribe to a task", updates, api.agentMessage),
  [`POST ${TASK}/pushNotificationConfigs`]: agent("Create a push notification configuration", message(), api.agentMessage),
  [`GET ${TASK}/pushNotificationConfigs`]: agent("List push notification configurations", message()),
  [`GET ${TASK}/pushNotificationConfigs/:config_id`]: agent("Retrieve a push notification configuration", message()),
  [`DELETE ${TASK}/pushNotificationConfigs/:config_id`]: agent("Delete a push notification configuration", message()),
  [`GET ${AGENT}/extendedAgentCard`]: agent("Extended agent card", json(api.agentCardDocument)),
  ...Object.fromEntries(
    [AGENT, `${AGENT}/`].map((path) => [`POST ${path}`, agent("JSON-RPC", maybeStreamed(api.rpcMessage), api.rpcMessage)]),
  ),
  "POST /v1/proxy/a2a/outbound": agent("JSON-RPC to an external agent", maybeStreamed(api.rpcMessage), api.rpcMessage),
  "POST /v1/proxy/a2a/inbound": agent("JSON-RPC to an agent of this gateway", maybeStreamed(api.rpcMessage), api.rpcMessage),
};

const SUB_PATH = "/v1/proxy/mcp/:server_id/:path";

const OPENAI: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${MODELS}/chat/completions`]: openai("Chat completions", maybeStreamed(api.chatCompletion), api.chatRequest),
  [`POST ${MODELS}/responses`]: openai("Responses", maybeStreamed(api.responsesAnswer), api.responsesRequest),
  [`POST ${MODELS}/responses/input_tokens`]: openai("Count the input tokens of a response", json(api.responsesCount), api.responsesRequest),
  [`POST ${MODELS}/responses/compact`]: openai("Compact a conversation", json(api.responsesCompaction), api.responsesRequest),
  [`GET ${MODELS}/responses/:response_id`]: {
    ...openai("Retrieve a stored response", maybeStreamed(api.responsesAnswer)),
    query: api.storedResponseQuery,
  },
  [`POST ${MODELS}/responses/:response_id/cancel`]: openai("Cancel a response in the background", json(api.responsesAnswer)),
  [`DELETE ${MODELS}/responses/:response_id`]: openai("Delete a stored response", json(api.responseDeleted)),
  [`GET ${MODELS}/responses/:response_id/input_items`]: {
    ...openai("List the input items of a stored response", json(api.inputItemList)),
    query: api.inputItemsQuery,
  },
  [`POST ${MODELS}/completions`]: openai("Legacy completions", maybeStreamed(api.completion), api.completionRequest),
  [`POST ${MODELS}/embeddings`]: openai("Embeddings", json(api.embeddingsAnswer), api.embeddingsRequest),
  [`POST ${MODELS}/images/generations`]: openai("Image generation", maybeStreamed(media.imagesAnswer), media.imagesRequest),
  [`POST ${MODELS}/images/edits`]: { ...openai("Image edits", maybeStreamed(media.imagesAnswer), media.imageEditForm), form: true },
  [`POST ${MODELS}/audio/speech`]: openai("Text to speech", { status: 200, media: "audio/*" }, media.speechRequest),
  [`POST ${MODELS}/audio/transcriptions`]: {
    ...openai("Transcription", maybeStreamed(media.transcript), media.transcriptionForm),
    form: true,
  },
  [`POST ${MODELS}/audio/translations`]: {
    ...openai("Translation to English", json(media.transcript), media.transcriptionForm),
    form: true,
  },
  [`POST ${MODELS}/moderations`]: openai("Moderation", json(media.moderationsAnswer), media.moderationsRequest),
  [`GET ${MODELS}/models`]: openai("List models", json(api.modelList)),
  [`GET ${MODELS}/models/:model_id`]: openai("Retrieve a model by name or id", json(api.listedModel)),
};

/** The same at the paths of Azure's clients. */
const AZURE = Object.fromEntries(
  Object.entries(OPENAI).map(([key, described]) => {
    const [method = "", path = ""] = key.split(" ");
    return [
      `${method} ${azurePath(path, ":deployment")}`,
      { ...described, tag: "Azure OpenAI's paths", summary: `${described.summary} (Azure)` },
    ];
  }),
);

export const DESCRIBED_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  ...OPENAI,
  [`GET ${MODELS}/realtime`]: { ...openai("Realtime session (WebSocket)", { status: 101 }), query: api.realtimeQuery },
  ...AZURE,
  ...Object.fromEntries(
    ["", "/v1", "/v2"].map((version) => [
      `POST ${MODELS}${version}/rerank`,
      openai("Rerank documents by a query", json(api.rerankAnswer), api.rerankRequest),
    ]),
  ),
  "POST /v1/messages": anthropic("Messages", maybeStreamed(api.messagesAnswer), api.messagesRequest),
  "POST /v1/messages/count_tokens": anthropic("Count tokens", json(api.messagesCount), api.messagesCountRequest),
  ...gemini("/v1beta/models"),
  ...gemini("/v1/models"),
  "GET /v1beta/models": google("List models", json(api.geminiModelList)),
  "GET /v1beta/models/:model": google("Retrieve a model", json(api.geminiModelAnswer)),
  "GET /v1/models": openai("List models, in the form of the asking SDK", json(api.vendorModel)),
  "GET /v1/models/:model": openai("Retrieve a model", json(api.vendorModel)),
  ...discovery(
    "oauth-protected-resource",
    "Protected resource metadata",
    `/v1/proxy/mcp/:server_id${WELL_KNOWN}/NAME`,
    `${WELL_KNOWN}/NAME/v1/proxy/mcp/:server_id`,
    `${BROKER}${WELL_KNOWN}/NAME`,
  ),
  ...discovery(
    "openid-configuration",
    "Authorization server metadata",
    `/v1/proxy/mcp/:server_id${WELL_KNOWN}/NAME`,
    `${WELL_KNOWN}/NAME${BROKER}`,
    `${BROKER}${WELL_KNOWN}/NAME`,
  ),
  ...discovery(
    "oauth-authorization-server",
    "Authorization server metadata",
    `/v1/proxy/mcp/:server_id${WELL_KNOWN}/NAME`,
    `${WELL_KNOWN}/NAME${BROKER}`,
    `${BROKER}${WELL_KNOWN}/NAME`,
  ),
  [`GET ${BROKER}/client-metadata.json`]: oauth("Client metadata of the gateway", json(api.metadataDocument)),
  [`GET ${BROKER}/authorize`]: oauth("Authorize: consent page, then the authorization server", { status: 200, media: "text/html" }),
  [`POST ${BROKER}/authorize`]: oauth("Consent given or refused", { status: 302 }),
  [`GET ${BROKER}/callback`]: oauth("Callback from the authorization server", { status: 302 }),
  [`POST ${BROKER}/token`]: oauth("Token endpoint", json(api.oauthAnswer)),
  [`POST ${BROKER}/revoke`]: oauth("Revoke a token", { status: 200 }),
  [`POST ${BROKER}/register`]: oauth("Register a client", { status: 201, schema: api.oauthAnswer }, api.oauthAnswer),
  [`GET ${BROKER}/tokens`]: oauth("List the caller's tokens, without secrets", json(api.oauthAnswer)),
  [`DELETE ${BROKER}/tokens/:token_id`]: oauth("Delete a token", json(api.oauthAnswer)),
  "POST /v1/proxy/mcp/:server_id": mcp("JSON-RPC message to a tool server", maybeStreamed(api.rpcMessage), api.rpcMessage),
  "GET /v1/proxy/mcp/:server_id": mcp("Event stream of its messages", { status: 200, media: EVENTS }),
  "DELETE /v1/proxy/mcp/:server_id": mcp("End a session", { status: 204 }),
  ...Object.fromEntries(
    ["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
      `${method} ${SUB_PATH}`,
      mcp("Pass-through below the server's own path", { status: 200, media: "*/*" }),
    ]),
  ),
  "POST /v1/proxy/vmcp/:virtual_server_id": mcp("JSON-RPC message to a virtual server", maybeStreamed(api.rpcMessage), api.rpcMessage),
  "GET /v1/proxy/vmcp/:virtual_server_id": mcp("Event stream of its messages", { status: 200, media: EVENTS }),
  "DELETE /v1/proxy/vmcp/:virtual_server_id": mcp("End a session", { status: 204 }),
  ...AGENTS,
  ...FILE_ROUTES,
  ...BATCH_ROUTES,
  ...VIDEO_ROUTES,
  "GET /v1/runs/:root_task_id": route("Runs", "Retrieve a run", json(api.runOfCaller)),
  "POST /v1/runs/:root_task_id/end": route("Runs", "End a run", json(api.runOfCaller), api.runEndRequest),
  "POST /v1/discovery/events": {
    ...route("Discovery", "Submit signed discovery events", json(discoveryEventsTaken), discoveryEvents),
    headers: ["x-gw-collector-signature"],
  },
  "POST /v1/ingest/otel/v1/traces": route("Traces", "Ingest OpenTelemetry traces", json(api.otelAnswer), api.otelRequest),
};

/** Routes that need no credential and leave no row. */
export const HEALTH: DescribedRoute = route("Health", "Health check", json(api.planeHealth), undefined, api.planeHealth);
