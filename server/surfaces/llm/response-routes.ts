import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { StoredResponses } from "../../services/models/responses/stored-responses.ts";
import type { ResponseServices } from "./response-services.ts";
import { responses } from "./responses.ts";
import { responsesCompact } from "./responses-compact.ts";
import { responsesInputTokens } from "./responses-input-tokens.ts";
import { responseCancel, responseDelete, responseInputItems, responseRetrieve } from "./stored-responses.ts";

interface Services extends ResponseServices {
  readonly responses: StoredResponses;
}

interface ResponseRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly surface: (services: Services) => Surface;
}

const ROOT = "/v1/proxy/llm/responses";
const audit = (proxySubtype: string) => ({ proxyType: "llm", proxySubtype }) as const;
const about = (
  method: ResponseRoute["method"],
  path: string,
  proxySubtype: string,
  surface: (stored: StoredResponses) => Surface,
): ResponseRoute => ({
  ...{ method, path: `${ROOT}/:response_id${path}`, audit: audit(proxySubtype), body: false },
  surface: ({ responses: stored }) => surface(stored),
});

/** All routes of OpenAI's responses API. */
export const RESPONSE_ROUTES: readonly ResponseRoute[] = [
  { method: "POST", path: ROOT, surface: responses, audit: audit("responses"), body: true },
  { method: "POST", path: `${ROOT}/input_tokens`, surface: responsesInputTokens, audit: audit("responses_input_tokens"), body: true },
  { method: "POST", path: `${ROOT}/compact`, surface: responsesCompact, audit: audit("responses_compact"), body: true },
  about("GET", "", "response_retrieve", responseRetrieve),
  about("POST", "/cancel", "response_cancel", responseCancel),
  about("DELETE", "", "response_delete", responseDelete),
  about("GET", "/input_items", "response_input_items", responseInputItems),
];
