import type { GovernedRoute } from "./governance/road.ts";
import { chatCompletions } from "./surfaces/llm/chat-completions.ts";
import { modelDetail, modelsList } from "./surfaces/llm/models.ts";

/**
 * Every route of the runtime plane on one page. A governed route travels the main road: an API key or token, an audit
 * row, every control. An open route asks for no credential and leaves no row. The control plane's routes stand in
 * surfaces/admin/routes.ts.
 */
export type Method = "GET" | "POST" | "DELETE";

export interface Governed extends GovernedRoute {
  readonly method: Method;
  readonly path: string;
}

const llm = (proxySubtype: string) => ({ proxyType: "llm", proxySubtype }) as const;

export const GOVERNED_ROUTES: readonly Governed[] = [
  { method: "POST", path: "/v1/proxy/llm/chat/completions", surface: chatCompletions, audit: llm("chat_completions"), body: true },
  { method: "GET", path: "/v1/proxy/llm/models", surface: modelsList, audit: llm("models_list"), body: false },
  { method: "GET", path: "/v1/proxy/llm/models/:model_id{.+}", surface: modelDetail, audit: llm("model_detail"), body: false },
];

export const OPEN_ROUTES = ["/healthz", "/readyz", "/v1/proxy/llm/health"] as const;
