import * as api from "@gatehouse/contracts/runtime-api";
import { discoveryEvents, discoveryEventsTaken } from "@gatehouse/contracts/discovery";
import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";
import { BATCH_ROUTES } from "./batch-routes.ts";
import { VIDEO_ROUTES } from "./video-routes.ts";
import { FILE_ROUTES } from "./file-routes.ts";

/** What the runtime plane's document says of the routes of protocols: by method and path as the route table has them. */

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
  headers: ["anthropic-version"],
});
const google = (summary: string, answer: DescribedAnswer, body?: z.ZodType) => route("Google's format", summary, answer, body);
const mcp = (summary: string, answer: DescribedAnswer, body?: z.ZodType) => route("Tool servers", summary, answer, body, api.rpcMessage);
const oauth = (summary: string, answer: DescribedAnswer, body?: z.ZodType) =>
  route("OAuth of tool servers", summary, answer, body, api.oauthError);

function gemini(root: string): Record<string, DescribedRoute> {
  return {
    [`POST ${root}/:call:generateContent`]: google("Generates content", json(api.geminiAnswer), api.geminiRequest),
    [`POST ${root}/:call:streamGenerateContent`]: google(
      "Generates content as a stream",
      maybeStreamed(api.vendorModel),
      api.geminiRequest,
    ),
    [`POST ${root}/:call:countTokens`]: google("Counts tokens", json(api.geminiCount), api.geminiCountRequest),
    [`POST ${root}/:call:embedContent`]: google("Embeds a text", json(api.geminiEmbedding), api.geminiEmbedRequest),
    [`POST ${root}/:call:batchEmbedContents`]: google("Embeds texts", json(api.geminiEmbeddingsAnswer), api.geminiBatchEmbedRequest),
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
      (path) => [`GET ${path}`, agent("An agent's card", json(api.agentCardDocument))],
    ),
  ),
  "GET /.well-known/a2a-jwks/:tenant_id": agent("The keys cards are signed with", json(api.metadataDocument)),
  [`POST ${AGENT}/message:send`]: agent("Sends a message", message(), api.agentMessage),
  [`POST ${AGENT}/message:stream`]: agent("Sends a message, and streams what comes of it", updates, api.agentMessage),
  [`GET ${AGENT}/tasks`]: agent("The caller's tasks", message()),
  [`GET ${TASK}`]: agent("A task", message()),
  [`POST ${AGENT}/tasks/:task:cancel`]: agent("Cancels a task", message(), api.agentMessage),
  [`GET ${AGENT}/tasks/:task:subscribe`]: agent("Streams what comes of a task", updates),
  [`POST ${AGENT}/tasks/:task:subscribe`]: agent("Streams what comes of a task", updates, api.agentMessage),
  [`POST ${TASK}/pushNotificationConfigs`]: agent("Adds an address that is told of a task", message(), api.agentMessage),
  [`GET ${TASK}/pushNotificationConfigs`]: agent("Those addresses", message()),
  [`GET ${TASK}/pushNotificationConfigs/:config_id`]: agent("One of them", message()),
  [`DELETE ${TASK}/pushNotificationConfigs/:config_id`]: agent("Takes one away", message()),
  [`GET ${AGENT}/extendedAgentCard`]: agent("What a card says to callers with a credential", json(api.agentCardDocument)),
  "POST /v1/proxy/a2a/outbound": agent("Any operation as JSON-RPC, at an agent outside", maybeStreamed(api.rpcMessage), api.rpcMessage),
  "POST /v1/proxy/a2a/inbound": agent("Any operation as JSON-RPC, at an agent of ours", maybeStreamed(api.rpcMessage), api.rpcMessage),
};

const SUB_PATH = "/v1/proxy/mcp/:server_id/:path";

export const DESCRIBED_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${MODELS}/chat/completions`]: openai("Chat completions", maybeStreamed(api.chatCompletion), api.chatRequest),
  [`POST ${MODELS}/responses`]: openai("Responses", maybeStreamed(api.responsesAnswer), api.responsesRequest),
  [`POST ${MODELS}/completions`]: openai("Legacy completions", maybeStreamed(api.completion), api.completionRequest),
  [`POST ${MODELS}/embeddings`]: openai("Embeddings", json(api.embeddingsAnswer), api.embeddingsRequest),
  [`POST ${MODELS}/images/generations`]: openai("Image generation", json(api.imagesAnswer), api.imagesRequest),
  [`POST ${MODELS}/images/edits`]: { ...openai("Pictures from pictures", json(api.imagesAnswer), api.imageEditForm), form: true },
  [`POST ${MODELS}/audio/speech`]: openai("Speech, as it is made", { status: 200, media: "audio/*" }, api.speechRequest),
  [`POST ${MODELS}/audio/transcriptions`]: { ...openai("Sound as text", maybeStreamed(api.transcript), api.transcriptionForm), form: true },
  [`POST ${MODELS}/audio/translations`]: { ...openai("Sound as English text", json(api.transcript), api.transcriptionForm), form: true },
  [`POST ${MODELS}/moderations`]: openai("Moderation of texts and pictures", json(api.moderationsAnswer), api.moderationsRequest),
  [`GET ${MODELS}/models`]: openai("The models the caller may use", json(api.modelList)),
  [`GET ${MODELS}/models/:model_id`]: openai("One of them, by name or id", json(api.listedModel)),
  "POST /v1/messages": anthropic("Messages", maybeStreamed(api.messagesAnswer), api.messagesRequest),
  "POST /v1/messages/count_tokens": anthropic("Counts tokens", json(api.messagesCount), api.messagesCountRequest),
  ...gemini("/v1beta/models"),
  ...gemini("/v1/models"),
  "GET /v1beta/models": google("The models the caller may use", json(api.geminiModelList)),
  "GET /v1beta/models/:model": google("One of them", json(api.geminiModelAnswer)),
  "GET /v1/models": openai("The models the caller may use, in the form of whoever asks", json(api.vendorModel)),
  "GET /v1/models/:model": openai("One of them", json(api.vendorModel)),
  ...discovery(
    "oauth-protected-resource",
    "The protected resource's metadata",
    `/v1/proxy/mcp/:server_id${WELL_KNOWN}/NAME`,
    `${WELL_KNOWN}/NAME/v1/proxy/mcp/:server_id`,
    `${BROKER}${WELL_KNOWN}/NAME`,
  ),
  ...discovery(
    "openid-configuration",
    "The authorization server's metadata",
    `/v1/proxy/mcp/:server_id${WELL_KNOWN}/NAME`,
    `${WELL_KNOWN}/NAME${BROKER}`,
    `${BROKER}${WELL_KNOWN}/NAME`,
  ),
  ...discovery(
    "oauth-authorization-server",
    "The authorization server's metadata",
    `/v1/proxy/mcp/:server_id${WELL_KNOWN}/NAME`,
    `${WELL_KNOWN}/NAME${BROKER}`,
    `${BROKER}${WELL_KNOWN}/NAME`,
  ),
  [`GET ${BROKER}/client-metadata.json`]: oauth("The gateway as a client of the authorization server", json(api.metadataDocument)),
  [`GET ${BROKER}/authorize`]: oauth("Asks the person for consent, and leads to the authorization server", {
    status: 200,
    media: "text/html",
  }),
  [`POST ${BROKER}/authorize`]: oauth("The person's answer", { status: 302 }),
  [`GET ${BROKER}/callback`]: oauth("Where the authorization server leads back to", { status: 302 }),
  [`POST ${BROKER}/token`]: oauth("Gives tokens", json(api.oauthAnswer)),
  [`POST ${BROKER}/revoke`]: oauth("Revokes a token", { status: 200 }),
  [`POST ${BROKER}/register`]: oauth("Registers a client", { status: 201, schema: api.oauthAnswer }, api.oauthAnswer),
  [`GET ${BROKER}/tokens`]: oauth("The caller's tokens, without their secrets", json(api.oauthAnswer)),
  [`DELETE ${BROKER}/tokens/:token_id`]: oauth("Deletes one", json(api.oauthAnswer)),
  "POST /v1/proxy/mcp/:server_id": mcp("A JSON-RPC message to a tool server", maybeStreamed(api.rpcMessage), api.rpcMessage),
  "GET /v1/proxy/mcp/:server_id": mcp("Its messages, as they come", { status: 200, media: EVENTS }),
  "DELETE /v1/proxy/mcp/:server_id": mcp("Ends a session", { status: 204 }),
  ...Object.fromEntries(
    ["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
      `${method} ${SUB_PATH}`,
      mcp("What a server answers below its own path", { status: 200, media: "*/*" }),
    ]),
  ),
  "POST /v1/proxy/vmcp/:virtual_server_id": mcp("A JSON-RPC message to a virtual server", maybeStreamed(api.rpcMessage), api.rpcMessage),
  "GET /v1/proxy/vmcp/:virtual_server_id": mcp("Its messages, as they come", { status: 200, media: EVENTS }),
  "DELETE /v1/proxy/vmcp/:virtual_server_id": mcp("Ends a session", { status: 204 }),
  ...AGENTS,
  ...FILE_ROUTES,
  ...BATCH_ROUTES,
  ...VIDEO_ROUTES,
  "GET /v1/runs/:root_task_id": route("Runs", "A run the caller took part in", json(api.runOfCaller)),
  "POST /v1/runs/:root_task_id/end": route("Runs", "Ends a run", json(api.runOfCaller), api.runEndRequest),
  "POST /v1/discovery/events": {
    ...route("Discovery", "Takes what a collector found, signed with its key", json(discoveryEventsTaken), discoveryEvents),
    headers: ["x-gw-collector-signature"],
  },
  "POST /v1/ingest/otel/v1/traces": route("Traces", "Takes in OpenTelemetry traces", json(api.otelAnswer), api.otelRequest),
};

/** Routes that ask for no credential and leave no row. */
export const HEALTH: DescribedRoute = route("Health", "Whether it serves", json(api.planeHealth), undefined, api.planeHealth);
