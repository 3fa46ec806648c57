import { azurePath } from "../../../server/surfaces/azure/azure-routes.ts";

const PROMPT = "hello";
const messages = [{ role: "user", content: PROMPT }];
const rpc = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};
const gemini = { contents: [{ role: "user", parts: [{ text: PROMPT }] }] };
const embedded = { content: { parts: [{ text: PROMPT }] } };
const geminiCall = { body: gemini, ok: 200, upstream: true };
/** For handshake servers: they serve only their own path. */
const subPath = (ok: number) => ({ body: {}, ok });

const agentMessage = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: PROMPT }] } };
const agentRpc = {
  jsonrpc: "2.0",
  id: 1,
  method: "message/send",
  params: { message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: PROMPT }] } },
};

export interface WellFormed {
  readonly body?: object;
  /** The expected status; where a session or OAuth client is required first, that of the refusal that says so. */
  readonly ok: number;
  /** Whether it calls a model, which can fail. */
  readonly upstream?: boolean;
}

/** OpenAI's routes, which Azure's clients use too. */
const OPENAI: Readonly<Record<string, WellFormed>> = {
  "POST /v1/proxy/llm/chat/completions": { body: { model: "fake-1", messages }, ok: 200, upstream: true },
  "POST /v1/proxy/llm/responses": { body: { model: "fake-1", input: PROMPT }, ok: 200, upstream: true },
  "POST /v1/proxy/llm/responses/input_tokens": { body: { model: "fake-1", input: PROMPT }, ok: 200 },
  "POST /v1/proxy/llm/responses/compact": { body: { model: "fake-1", input: PROMPT }, ok: 400 },
  "GET /v1/proxy/llm/responses/:response_id": { ok: 404 },
  "POST /v1/proxy/llm/responses/:response_id/cancel": { ok: 404 },
  "DELETE /v1/proxy/llm/responses/:response_id": { ok: 404 },
  "GET /v1/proxy/llm/responses/:response_id/input_items": { ok: 404 },
  "POST /v1/proxy/llm/completions": { body: { model: "fake-1", prompt: PROMPT }, ok: 200, upstream: true },
  "POST /v1/proxy/llm/embeddings": { body: { model: "vectors", input: PROMPT }, ok: 200 },
  "POST /v1/proxy/llm/images/generations": { body: { model: "pictures", prompt: PROMPT }, ok: 200 },
  "POST /v1/proxy/llm/images/edits": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/audio/speech": { body: { model: "voice", input: PROMPT, voice: "alloy" }, ok: 200 },
  "POST /v1/proxy/llm/audio/transcriptions": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/audio/translations": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/moderations": { body: { model: "judge", input: PROMPT }, ok: 200 },
  "GET /v1/proxy/llm/models": { ok: 200 },
  "GET /v1/proxy/llm/models/:model_id{.+}": { ok: 200 },
};

/** A well-formed request for each route except the portal's, which are all called with an empty one. */
export const WELL_FORMED: Readonly<Record<string, WellFormed>> = {
  // The test asks for no upgrade.
  "GET /v1/proxy/llm/realtime": { ok: 400 },
  ...OPENAI,
  ...Object.fromEntries(Object.entries(OPENAI).map(([key, request]) => [key.replace(/\S+$/, (path) => azurePath(path)), request])),
  ...Object.fromEntries(
    ["", "/v1", "/v2"].map((version) => [
      `POST /v1/proxy/llm${version}/rerank`,
      { body: { model: "ranks", query: PROMPT, documents: [PROMPT] }, ok: 200 },
    ]),
  ),
  "POST /v1/messages": { body: { model: "fake-1", max_tokens: 10, messages }, ok: 200, upstream: true },
  "POST /v1/messages/count_tokens": { body: { model: "fake-1", messages }, ok: 200 },
  "POST /v1beta/models/:call{.+:generateContent}": geminiCall,
  "POST /v1beta/models/:call{.+:streamGenerateContent}": geminiCall,
  "POST /v1beta/models/:call{.+:countTokens}": { body: gemini, ok: 200 },
  "POST /v1beta/models/:call{.+:embedContent}": { body: embedded, ok: 200 },
  "POST /v1beta/models/:call{.+:batchEmbedContents}": { body: { requests: [embedded] }, ok: 200 },
  "POST /v1/models/:call{.+:embedContent}": { body: embedded, ok: 200 },
  "POST /v1/models/:call{.+:batchEmbedContents}": { body: { requests: [embedded] }, ok: 200 },
  "POST /v1/models/:call{.+:generateContent}": geminiCall,
  "POST /v1/models/:call{.+:streamGenerateContent}": geminiCall,
  "POST /v1/models/:call{.+:countTokens}": { body: gemini, ok: 200 },
  "GET /v1beta/models": { ok: 200 },
  "GET /v1beta/models/:model{.+}": { ok: 200 },
  "GET /v1/models": { ok: 200 },
  "GET /v1/models/:model{.+}": { ok: 200 },
  "POST /v1/proxy/mcp/:server_id{system-agent-skill-server-[^/]+}": { body: rpc, ok: 200 },
  "GET /v1/proxy/mcp/:server_id{system-agent-skill-server-[^/]+}": { ok: 400 },
  "DELETE /v1/proxy/mcp/:server_id{system-agent-skill-server-[^/]+}": { ok: 400 },
  "POST /v1/proxy/mcp/:server_id": { body: rpc, ok: 200 },
  "GET /v1/proxy/mcp/:server_id": { ok: 400 },
  "DELETE /v1/proxy/mcp/:server_id": { ok: 400 },
  "GET /v1/proxy/mcp/:server_id/:path{.+}": { ok: 400 },
  "POST /v1/proxy/mcp/:server_id/:path{.+}": subPath(400),
  "PUT /v1/proxy/mcp/:server_id/:path{.+}": subPath(405),
  "PATCH /v1/proxy/mcp/:server_id/:path{.+}": subPath(405),
  "DELETE /v1/proxy/mcp/:server_id/:path{.+}": subPath(400),
  "POST /v1/proxy/vmcp/:virtual_server_id": { body: rpc, ok: 200 },
  "GET /v1/proxy/vmcp/:virtual_server_id": { ok: 400 },
  "DELETE /v1/proxy/vmcp/:virtual_server_id": { ok: 400 },
  "GET /.well-known/agent-card/:tenant_id/:card_name": { ok: 200 },
  "GET /a2a/:tenant_id/:card_name/.well-known/agent-card.json": { ok: 200 },
  "GET /a2a/:tenant_id/:card_name/.well-known/agent.json": { ok: 200 },
  "GET /.well-known/a2a-jwks/:tenant_id": { ok: 200 },
  "POST /a2a/:tenant_id/:card_name/:verb{message:send}": { body: agentMessage, ok: 200 },
  "POST /a2a/:tenant_id/:card_name/:verb{message:stream}": { body: agentMessage, ok: 200 },
  "GET /a2a/:tenant_id/:card_name/tasks": { ok: 200 },
  "POST /a2a/:tenant_id/:card_name/tasks/:task{[^/]+:cancel}": { body: {}, ok: 404 },
  "GET /a2a/:tenant_id/:card_name/tasks/:task{[^/]+:subscribe}": { ok: 404 },
  "POST /a2a/:tenant_id/:card_name/tasks/:task{[^/]+:subscribe}": { body: {}, ok: 404 },
  "GET /a2a/:tenant_id/:card_name/tasks/:task_id": { ok: 404 },
  "POST /a2a/:tenant_id/:card_name/tasks/:task_id/pushNotificationConfigs": { body: { url: "http://127.0.0.1:9/told" }, ok: 404 },
  "GET /a2a/:tenant_id/:card_name/tasks/:task_id/pushNotificationConfigs": { ok: 404 },
  "GET /a2a/:tenant_id/:card_name/tasks/:task_id/pushNotificationConfigs/:config_id": { ok: 404 },
  "DELETE /a2a/:tenant_id/:card_name/tasks/:task_id/pushNotificationConfigs/:config_id": { ok: 404 },
  "GET /a2a/:tenant_id/:card_name/extendedAgentCard": { ok: 200 },
  "POST /a2a/:tenant_id/:card_name": { body: agentRpc, ok: 200 },
  "POST /a2a/:tenant_id/:card_name/": { body: agentRpc, ok: 200 },
  "POST /v1/proxy/a2a/outbound": { body: agentRpc, ok: 200 },
  "POST /v1/proxy/a2a/inbound": { body: agentRpc, ok: 200 },
  "POST /v1/proxy/files": { body: {}, ok: 400 },
  "GET /v1/proxy/files": { ok: 200 },
  "DELETE /v1/proxy/files": { ok: 400 },
  "GET /v1/proxy/files/:file_id": { ok: 404 },
  "GET /v1/proxy/files/:file_id/url": { ok: 404 },
  "GET /v1/proxy/files/:file_id/content": { ok: 404 },
  "DELETE /v1/proxy/files/:file_id": { ok: 404 },
  "POST /v1/proxy/batch/jobs": { body: {}, ok: 400 },
  "GET /v1/proxy/batch/jobs": { ok: 200 },
  "GET /v1/proxy/batch/jobs/:batch_job_id": { ok: 404 },
  "POST /v1/proxy/batch/jobs/:batch_job_id/cancel": { ok: 404 },
  "GET /v1/proxy/batch/jobs/:batch_job_id/results": { ok: 404 },
  "POST /v1/proxy/llm/batches": { body: {}, ok: 400 },
  "GET /v1/proxy/llm/batches": { ok: 200 },
  "GET /v1/proxy/llm/batches/:batch_job_id": { ok: 404 },
  "POST /v1/proxy/llm/batches/:batch_job_id/cancel": { ok: 404 },
  "POST /v1/messages/batches": { body: {}, ok: 400 },
  "GET /v1/messages/batches": { ok: 200 },
  "GET /v1/messages/batches/:batch_job_id": { ok: 404 },
  "POST /v1/messages/batches/:batch_job_id/cancel": { ok: 404 },
  "DELETE /v1/messages/batches/:batch_job_id": { ok: 404 },
  "GET /v1/messages/batches/:batch_job_id/results": { ok: 404 },
  "POST /v1/proxy/llm/files": { body: {}, ok: 400 },
  "GET /v1/proxy/llm/files": { ok: 200 },
  "GET /v1/proxy/llm/files/:file_id": { ok: 404 },
  "GET /v1/proxy/llm/files/:file_id/content": { ok: 404 },
  "DELETE /v1/proxy/llm/files/:file_id": { ok: 404 },
  "POST /v1/files": { body: {}, ok: 400 },
  "GET /v1/files": { ok: 200 },
  "GET /v1/files/:file_id": { ok: 404 },
  "GET /v1/files/:file_id/content": { ok: 404 },
  "DELETE /v1/files/:file_id": { ok: 404 },
  "GET /v1beta/files": { ok: 200 },
  "GET /v1beta/files/:file_id{[^/]+:download}": { ok: 404 },
  "GET /v1/files/:file_id{[^/]+:download}": { ok: 404 },
  "GET /v1beta/files/:file_id": { ok: 404 },
  "DELETE /v1beta/files/:file_id": { ok: 404 },
  "POST /upload/v1beta/files": { body: {}, ok: 400 },
  "POST /upload/v1/files": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/video/generations": { body: {}, ok: 400 },
  "GET /v1/proxy/llm/video/jobs/:job_id": { ok: 404 },
  "DELETE /v1/proxy/llm/video/jobs/:job_id": { ok: 404 },
  "POST /v1/proxy/llm/videos": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/videos/edits": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/videos/extensions": { body: {}, ok: 400 },
  "POST /v1/proxy/llm/videos/:job_id/remix": { body: {}, ok: 404 },
  "GET /v1/proxy/llm/videos": { ok: 200 },
  "GET /v1/proxy/llm/videos/:job_id": { ok: 404 },
  "GET /v1/proxy/llm/videos/:job_id/content": { ok: 404 },
  "DELETE /v1/proxy/llm/videos/:job_id": { ok: 404 },
  "GET /v1/runs/:root_task_id": { ok: 404 },
  "POST /v1/runs/:root_task_id/end": { body: {}, ok: 404 },
  "POST /v1/discovery/events": { body: { key_id: "nobody's" }, ok: 401 },
  "POST /v1/ingest/otel/v1/traces": { body: { resourceSpans: [] }, ok: 200 },
};

const kept = { chat_id: "c", display_name: "d" };
const filmed = { model: "films", prompt: PROMPT, ...kept, input_reference: { file_id: "f" } };
/** A line for an unknown model: a job that starts would make calls of its own. */
const line = { custom_id: "1", body: { model: "nobody's", messages } };

/** Bodies for routes whose well-formed request has none, or omits what is stored. */
export const FURTHER_BODIES: Readonly<Record<string, object>> = {
  "POST /v1/proxy/llm/images/generations": { model: "pictures", prompt: PROMPT, ...kept },
  "POST /v1/proxy/llm/audio/speech": { model: "voice", input: PROMPT, voice: "alloy", persist: true, chat_id: "c" },
  "POST /v1/proxy/llm/responses": { model: "fake-1", input: [{ type: "item_reference", id: "i" }], previous_response_id: "r", user: "u" },
  "POST /v1/proxy/batch/jobs": { model: "nobody's", description: "d", metadata: { team: "x" }, requests: [line] },
  "POST /v1/proxy/llm/batches": {
    ...{ input_file_id: "f", endpoint: "/v1/chat/completions", completion_window: "24h", metadata: { team: "x" } },
  },
  "POST /v1/messages/batches": { requests: [{ custom_id: "1", params: { model: "nobody's", max_tokens: 10, messages } }] },
  "POST /v1/proxy/llm/video/generations": filmed,
  "POST /v1/proxy/llm/videos": filmed,
  "POST /v1/proxy/llm/videos/edits": { prompt: PROMPT, video: { id: "v" } },
  "POST /v1/proxy/llm/videos/extensions": { prompt: PROMPT, video: { id: "v" }, seconds: "4" },
  "POST /v1/runs/:root_task_id/end": { status: "failed", reason: "r" },
  "POST /v1/portal/auth/login": { username: "u", password: "p", tenant_id: "t" },
  "POST /v1/portal/auth/sso/exchange": { code: "c" },
};
