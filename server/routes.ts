import type { GovernedRoute } from "./road/road-parts.ts";
import type { AgentService } from "./services/agents/agent-service.ts";
import type { Dispatch } from "./services/models/dispatch.ts";
import type { ItemCache } from "./services/models/caches/item-cache.ts";
import type { StoredResponses } from "./services/models/responses/stored-responses.ts";
import type { ToolService } from "./services/tools/tool-service.ts";
import type { RunAccess } from "./services/runs/run-access.ts";
import type { Outlet } from "./road/outlet.ts";
import type { Surface } from "./road/surface.ts";
import { agentCard, agentKeys } from "./surfaces/a2a/documents.ts";
import { agentRest } from "./surfaces/a2a/rest.ts";
import { agentOfAddress, agentOfQuery, agentRpc } from "./surfaces/a2a/rpc.ts";
import { geminiCountTokens } from "./surfaces/gemini/count-tokens.ts";
import { generateContent, streamGenerateContent } from "./surfaces/gemini/generate-content.ts";
import { batchEmbedContents, embedContent } from "./surfaces/gemini/embed-content.ts";
import { geminiModel, geminiModels } from "./surfaces/gemini/models.ts";
import { INGEST_ROUTES, type IngestServices } from "./surfaces/ingest/routes.ts";
import { RERANK_ROUTES } from "./surfaces/llm/rerank.ts";
import { TEXT_ROUTES } from "./surfaces/llm/text-routes.ts";
import { azureRoutes } from "./surfaces/azure/azure-routes.ts";
import { MEDIA_ROUTES } from "./surfaces/llm/media-routes.ts";
import { modelDetail, modelsList } from "./surfaces/llm/models.ts";
import { RESPONSE_ROUTES } from "./surfaces/llm/response-routes.ts";
import type { DescribedRoute } from "./surfaces/openapi/described-route.ts";
import { countTokens } from "./surfaces/messages/count-tokens.ts";
import {
  oauthAuthorize,
  oauthCallback,
  oauthClientMetadata,
  oauthDecide,
  oauthDeleteToken,
  oauthListTokens,
  oauthRegister,
  oauthResourceMetadata,
  oauthRevoke,
  oauthServerMetadata,
  oauthToken,
} from "./surfaces/oauth/broker.ts";
import { skillToolServer } from "./surfaces/mcp/skill-server.ts";
import { toolServer, virtualToolServer } from "./surfaces/mcp/tool-server.ts";
import { byVendor } from "./surfaces/by-vendor.ts";
import { messages } from "./surfaces/messages/messages.ts";
import { messagesModel, messagesModels } from "./surfaces/messages/models.ts";
import { runEnd, runInspect } from "./surfaces/runs/runs.ts";
import type { PortalServices } from "./surfaces/portal/portal-services.ts";
import type { FileService } from "./services/files/caller.ts";
import type { FileRoom } from "./road/request/file-room.ts";
import type { ResumableUploadService } from "./services/files/resumable-upload.ts";
import type { MediaSpool } from "./services/files/read-media.ts";
import type { VideoService } from "./services/videos/video-service.ts";
import type { BatchService } from "./services/batch/batch-service.ts";
import { BATCH_SURFACES } from "./surfaces/batch/routes.ts";
import { VIDEO_SURFACES } from "./surfaces/videos/routes.ts";
import { FILE_SURFACES } from "./surfaces/files/routes.ts";
import { REALTIME_ROUTE, type RealtimeService } from "./surfaces/realtime/realtime-route.ts";
import { PORTAL_ROUTES } from "./surfaces/portal/routes.ts";

/**
 * Every route of the runtime plane on one page. A governed route takes the path of docs/lifecycle.md: an API key or token, an audit row,
 * every control. An open route asks for no credential and leaves no row. For the control plane's routes see surfaces/admin/routes.ts.
 */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What surfaces need in addition to the road. */
export interface Services extends IngestServices, RealtimeService {
  readonly models: Dispatch;
  /** Responses stored at providers. */
  readonly responses: StoredResponses;
  /** Items of earlier answers that requests may reference. */
  readonly items: Pick<ItemCache, "find" | "keep">;
  /** Creates an outlet, behind the gates, to an upstream that a surface brings itself. */
  readonly outletTo: <Upstream>(upstream: Upstream) => Outlet<Upstream>;
  readonly tools: ToolService;
  readonly agents: AgentService;
  readonly runs: RunAccess;
  readonly files: FileService;
  readonly uploads: ResumableUploadService["uploads"];
  readonly uploadKeys: ResumableUploadService["uploadKeys"];
  readonly batches: BatchService;
  readonly videos: VideoService;
  readonly spool: MediaSpool;
  readonly room: FileRoom;
  /** The configured public URL of this plane, if any. */
  readonly publicUrl: string | null;
  readonly portal: PortalServices;
}

export interface Governed extends Omit<GovernedRoute, "surface"> {
  readonly surface: Surface | ((services: Services) => Surface);
  readonly method: Method;
  readonly path: string;
  /** Handles its requests around the road; the road alone does when left out. */
  readonly accept?: (services: Services) => (route: GovernedRoute, request: Request, ip: string) => Promise<Response>;
  /** Documentation of portal routes; that of other routes is in surfaces/openapi/runtime-routes.ts. */
  readonly described?: DescribedRoute;
}

const mcp = (proxySubtype: string) => ({ proxyType: "mcp", proxySubtype }) as const;
const virtualMcp = (proxySubtype: string) => ({ proxyType: "virtual_mcp", proxySubtype }) as const;
const skill = (proxySubtype: string) => ({ proxyType: "skill", proxySubtype }) as const;
const SKILL_SERVER = "/v1/proxy/mcp/:server_id{system-agent-skill-server-[^/]+}";
const oauth = (proxySubtype: string) => ({ proxyType: "oauth", proxySubtype }) as const;
const BROKER = "/v1/proxy/oauth/:server_id/:idp_server_id";
const a2a = (proxySubtype: string) => ({ proxyType: "a2a", proxySubtype }) as const;
const AGENT = "/a2a/:tenant_id/:card_name";
const AGENT_TASK = `${AGENT}/tasks/:task_id`;
const agentRoute = (method: Method, path: string, proxySubtype: string, operation: Parameters<typeof agentRest>[0]): Governed => ({
  method,
  path,
  surface: ({ agents }) => agentRest(operation)(agents),
  audit: a2a(proxySubtype),
  body: method === "POST",
});
const llm = (proxySubtype: string) => ({ proxyType: "llm", proxySubtype }) as const;

const OPENAI_ROUTES: readonly Governed[] = [
  ...TEXT_ROUTES,
  ...RESPONSE_ROUTES,
  ...MEDIA_ROUTES,
  { method: "GET", path: "/v1/proxy/llm/models", surface: modelsList, audit: llm("models_list"), body: false },
  { method: "GET", path: "/v1/proxy/llm/models/:model_id{.+}", surface: modelDetail, audit: llm("model_detail"), body: false },
];

export const GOVERNED_ROUTES: readonly Governed[] = [
  ...OPENAI_ROUTES,
  ...azureRoutes<Services, Governed>(OPENAI_ROUTES),
  ...RERANK_ROUTES,
  REALTIME_ROUTE,
  ...VIDEO_SURFACES,
  { method: "POST", path: "/v1/messages", surface: ({ models }) => messages(models), audit: llm("anthropic_messages"), body: true },
  {
    method: "POST",
    path: "/v1/messages/count_tokens",
    surface: ({ models }) => countTokens(models),
    audit: llm("anthropic_count_tokens"),
    body: true,
  },
  // Google's current client defaults to v1, its older clients and documentation use v1beta.
  ...["/v1beta", "/v1"].flatMap((version): Governed[] => [
    {
      method: "POST",
      path: `${version}/models/:call{.+:generateContent}`,
      surface: ({ models }) => generateContent(models),
      audit: llm("gemini_generate_content"),
      body: true,
    },
    {
      method: "POST",
      path: `${version}/models/:call{.+:streamGenerateContent}`,
      surface: ({ models }) => streamGenerateContent(models),
      audit: llm("gemini_stream_generate_content"),
      body: true,
    },
    {
      method: "POST",
      path: `${version}/models/:call{.+:countTokens}`,
      surface: ({ models }) => geminiCountTokens(models),
      audit: llm("gemini_count_tokens"),
      body: true,
    },
    {
      method: "POST",
      path: `${version}/models/:call{.+:embedContent}`,
      surface: ({ models }) => embedContent(models),
      audit: llm("gemini_embed_content"),
      body: true,
    },
    {
      method: "POST",
      path: `${version}/models/:call{.+:batchEmbedContents}`,
      surface: ({ models }) => batchEmbedContents(models),
      audit: llm("gemini_batch_embed_contents"),
      body: true,
    },
  ]),
  { method: "GET", path: "/v1beta/models", surface: geminiModels, audit: llm("gemini_models_list"), body: false },
  { method: "GET", path: "/v1beta/models/:model{.+}", surface: geminiModel, audit: llm("gemini_model_detail"), body: false },
  { method: "GET", path: "/v1/models", surface: byVendor(messagesModels, geminiModels), audit: llm("models_list"), body: false },
  { method: "GET", path: "/v1/models/:model{.+}", surface: byVendor(messagesModel, geminiModel), audit: llm("model_detail"), body: false },
  // Must precede the tool servers' sub-paths, which would match these. Clients ask for them before they have a credential.
  ...[
    "/v1/proxy/mcp/:server_id/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/v1/proxy/mcp/:server_id",
    `${BROKER}/.well-known/oauth-protected-resource`,
  ].map((path): Governed => ({
    method: "GET",
    path,
    surface: ({ tools }) => oauthResourceMetadata(tools),
    audit: oauth("oauth_discovery"),
    body: false,
    admits: "key_or_none",
  })),
  ...["openid-configuration", "oauth-authorization-server"].flatMap((document) =>
    [`/v1/proxy/mcp/:server_id/.well-known/${document}`, `/.well-known/${document}${BROKER}`, `${BROKER}/.well-known/${document}`].map(
      (path): Governed => ({
        method: "GET",
        path,
        surface: ({ tools }) => oauthServerMetadata(tools),
        audit: oauth("oauth_discovery"),
        body: false,
        admits: "key_or_none",
      }),
    ),
  ),
  {
    method: "GET",
    path: `${BROKER}/client-metadata.json`,
    surface: ({ tools }) => oauthClientMetadata(tools),
    audit: oauth("oauth_discovery"),
    body: false,
    admits: "key_or_none",
  },
  {
    method: "GET",
    path: `${BROKER}/authorize`,
    surface: ({ tools }) => oauthAuthorize(tools),
    audit: oauth("oauth_authorize"),
    authenticates: true,
    body: false,
    admits: "key_or_none",
  },
  {
    method: "POST",
    path: `${BROKER}/authorize`,
    surface: ({ tools }) => oauthDecide(tools),
    audit: oauth("oauth_authorize"),
    authenticates: true,
    body: true,
    admits: "key_or_none",
  },
  {
    method: "GET",
    path: `${BROKER}/callback`,
    surface: ({ tools }) => oauthCallback(tools),
    audit: oauth("oauth_callback"),
    authenticates: true,
    body: false,
    admits: "key_or_none",
  },
  {
    method: "POST",
    path: `${BROKER}/token`,
    surface: ({ tools }) => oauthToken(tools),
    audit: oauth("oauth_token"),
    authenticates: true,
    body: true,
    admits: "key_or_none",
  },
  {
    method: "POST",
    path: `${BROKER}/revoke`,
    surface: ({ tools }) => oauthRevoke(tools),
    audit: oauth("oauth_revoke"),
    authenticates: true,
    body: true,
    admits: "key_or_none",
  },
  {
    method: "POST",
    path: `${BROKER}/register`,
    surface: ({ tools }) => oauthRegister(tools),
    audit: oauth("oauth_register"),
    authenticates: true,
    body: true,
    admits: "key_or_none",
  },
  { method: "GET", path: `${BROKER}/tokens`, surface: ({ tools }) => oauthListTokens(tools), audit: oauth("oauth_tokens"), body: false },
  {
    method: "DELETE",
    path: `${BROKER}/tokens/:token_id`,
    surface: ({ tools }) => oauthDeleteToken(tools),
    audit: oauth("oauth_tokens"),
    authenticates: true,
    body: false,
  },
  // Must precede the other tool servers: this one is the gateway itself.
  { method: "POST", path: SKILL_SERVER, surface: ({ tools }) => skillToolServer(tools), audit: skill("skill_jsonrpc"), body: true },
  { method: "GET", path: SKILL_SERVER, surface: ({ tools }) => skillToolServer(tools), audit: skill("skill_stream"), body: false },
  { method: "DELETE", path: SKILL_SERVER, surface: ({ tools }) => skillToolServer(tools), audit: skill("skill_session_end"), body: false },
  { method: "POST", path: "/v1/proxy/mcp/:server_id", surface: ({ tools }) => toolServer(tools), audit: mcp("mcp_jsonrpc"), body: true },
  { method: "GET", path: "/v1/proxy/mcp/:server_id", surface: ({ tools }) => toolServer(tools), audit: mcp("sse_stream"), body: false },
  {
    method: "DELETE",
    path: "/v1/proxy/mcp/:server_id",
    surface: ({ tools }) => toolServer(tools),
    audit: mcp("mcp_session_end"),
    body: false,
  },
  {
    method: "GET",
    path: "/v1/proxy/mcp/:server_id/:path{.+}",
    surface: ({ tools }) => toolServer(tools),
    audit: mcp("mcp_sub_path"),
    body: false,
  },
  {
    method: "POST",
    path: "/v1/proxy/mcp/:server_id/:path{.+}",
    surface: ({ tools }) => toolServer(tools),
    audit: mcp("mcp_sub_path"),
    body: true,
  },
  {
    method: "PUT",
    path: "/v1/proxy/mcp/:server_id/:path{.+}",
    surface: ({ tools }) => toolServer(tools),
    audit: mcp("mcp_sub_path"),
    body: true,
  },
  {
    method: "PATCH",
    path: "/v1/proxy/mcp/:server_id/:path{.+}",
    surface: ({ tools }) => toolServer(tools),
    audit: mcp("mcp_sub_path"),
    body: true,
  },
  {
    method: "DELETE",
    path: "/v1/proxy/mcp/:server_id/:path{.+}",
    surface: ({ tools }) => toolServer(tools),
    audit: mcp("mcp_sub_path"),
    body: true,
  },
  {
    method: "POST",
    path: "/v1/proxy/vmcp/:virtual_server_id",
    surface: ({ tools }) => virtualToolServer(tools),
    audit: virtualMcp("mcp_jsonrpc"),
    body: true,
  },
  {
    method: "GET",
    path: "/v1/proxy/vmcp/:virtual_server_id",
    surface: ({ tools }) => virtualToolServer(tools),
    audit: virtualMcp("sse_stream"),
    body: false,
  },
  {
    method: "DELETE",
    path: "/v1/proxy/vmcp/:virtual_server_id",
    surface: ({ tools }) => virtualToolServer(tools),
    audit: virtualMcp("mcp_session_end"),
    body: false,
  },
  // Clients read a card, and the keys that sign it, before they have a credential.
  ...["/.well-known/agent-card/:tenant_id/:card_name", `${AGENT}/.well-known/agent-card.json`, `${AGENT}/.well-known/agent.json`].map(
    (path): Governed => ({
      method: "GET",
      path,
      surface: ({ agents }) => agentCard(agents),
      audit: a2a("agent_card"),
      body: false,
      admits: "key_or_none",
    }),
  ),
  {
    method: "GET",
    path: "/.well-known/a2a-jwks/:tenant_id",
    surface: ({ agents }) => agentKeys(agents),
    audit: a2a("agent_keys"),
    body: false,
    admits: "key_or_none",
  },
  agentRoute("POST", `${AGENT}/:verb{message:send}`, "message_send", "SendMessage"),
  agentRoute("POST", `${AGENT}/:verb{message:stream}`, "message_stream", "SendStreamingMessage"),
  agentRoute("GET", `${AGENT}/tasks`, "task_list", "ListTasks"),
  agentRoute("POST", `${AGENT}/tasks/:task{[^/]+:cancel}`, "task_cancel", "CancelTask"),
  agentRoute("GET", `${AGENT}/tasks/:task{[^/]+:subscribe}`, "task_subscribe", "SubscribeToTask"),
  agentRoute("POST", `${AGENT}/tasks/:task{[^/]+:subscribe}`, "task_subscribe", "SubscribeToTask"),
  agentRoute("GET", AGENT_TASK, "task_get", "GetTask"),
  agentRoute("POST", `${AGENT_TASK}/pushNotificationConfigs`, "push_config_create", "CreateTaskPushNotificationConfig"),
  agentRoute("GET", `${AGENT_TASK}/pushNotificationConfigs`, "push_config_list", "ListTaskPushNotificationConfigs"),
  agentRoute("GET", `${AGENT_TASK}/pushNotificationConfigs/:config_id`, "push_config_get", "GetTaskPushNotificationConfig"),
  agentRoute("DELETE", `${AGENT_TASK}/pushNotificationConfigs/:config_id`, "push_config_delete", "DeleteTaskPushNotificationConfig"),
  agentRoute("GET", `${AGENT}/extendedAgentCard`, "extended_agent_card", "GetExtendedAgentCard"),
  // Clients that join paths add a trailing slash.
  ...[AGENT, `${AGENT}/`].map((path): Governed => ({
    method: "POST",
    path,
    surface: ({ agents }) => agentRpc(agents, agentOfAddress),
    audit: a2a("a2a_outbound"),
    body: true,
  })),
  ...(["outbound", "inbound"] as const).map((direction): Governed => ({
    method: "POST",
    path: `/v1/proxy/a2a/${direction}`,
    surface: ({ agents }) => agentRpc(agents, agentOfQuery),
    audit: a2a(`a2a_${direction}`),
    body: true,
  })),
  { method: "GET", path: "/v1/runs/:root_task_id", surface: ({ runs }) => runInspect(runs), audit: llm("run_inspect"), body: false },
  { method: "POST", path: "/v1/runs/:root_task_id/end", surface: ({ runs }) => runEnd(runs), audit: llm("run_end"), body: true },
  ...INGEST_ROUTES,
  ...FILE_SURFACES,
  ...BATCH_SURFACES,
  ...PORTAL_ROUTES,
];

export const OPEN_ROUTES = ["/healthz", "/readyz", "/v1/proxy/llm/health", "/v1/proxy/mcp/health", "/v1/proxy/vmcp/health"] as const;
