import { objectInJson } from "../../kernel/json-value.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { ToolService } from "../../services/tools/tool-service.ts";
import type { Call } from "../../road/call.ts";
import type { BrokerAnswer, BrokerOperation, BrokerRequest } from "../../services/tools/authorization/broker-request.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { type Answer, ownAnswer } from "../../road/answer.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { PAGE_HEADERS, plainPage } from "../../wire/http/html-page.ts";
import { ambiguityOf, ambiguousName } from "../../wire/json/ambiguous-name.ts";
import { repeatedName } from "../../wire/json/repeated-name.ts";
import { parseScopes } from "../../wire/oauth/challenge.ts";
import { consentPage } from "./pages.ts";
import { jsonRefusals, pageRefusals } from "./oauth-refusals.ts";

/** The OAuth broker's operations (interface 4.5), each a surface over the tool server service. */
export const oauthResourceMetadata = operation("resource_metadata");
export const oauthServerMetadata = operation("server_metadata");
export const oauthClientMetadata = operation("client_metadata");
export const oauthAuthorize = operation("authorize", pageRefusals);
export const oauthDecide = operation("decide", pageRefusals);
export const oauthCallback = operation("callback", pageRefusals);
export const oauthToken = operation("token");
export const oauthRevoke = operation("revoke");
export const oauthRegister = operation("register");
export const oauthListTokens = operation("list_tokens");
export const oauthDeleteToken = operation("delete_token");

const MAX_BYTES = 64 * 1024;
const BROKER_PATH = /^(?:\/\.well-known\/[\w-]+)?\/v1\/proxy\/oauth\/([^/]+)\/([^/]+)(?:\/tokens\/([^/]+))?/;
const SERVER_PATH = /^(?:\/\.well-known\/[\w-]+)?\/v1\/proxy\/mcp\/([^/]+)/;

function operation(name: BrokerOperation, refusals: Pick<Surface, "refusal" | "streamError"> = jsonRefusals) {
  return (tools: ToolService): Surface => ({
    ...refusals,
    read(call, body) {
      const { scope } = call;
      // Bodies here contain codes and tokens. Without a scope, neither request nor response bodies are stored.
      call.scope = null;
      call.requestContent = null;
      const request = readRequest(call, name, body, scope);
      if (isRefusal(request)) return request;
      noteFlow(call, request);
      return exchange(tools, request);
    },
  });
}

const GRANTS: ReadonlySet<string> = new Set(["authorization_code", "refresh_token"]);
const MAX_SCOPE_LENGTH = 2_000;

/** Records which OAuth flow the request is part of, and the scope it asks for. */
function noteFlow({ row }: Call, { operation: step, query, form }: BrokerRequest): void {
  const grant = form.get("grant_type") ?? "";
  if (step === "authorize" || step === "decide" || step === "callback") row.oauth_flow_type = "authorization_code";
  else if (step === "token" && GRANTS.has(grant)) row.oauth_flow_type = grant;
  const requestedScopes = step === "authorize" || step === "token" ? parseScopes(query.get("scope") ?? form.get("scope")) : [];
  if (requestedScopes.length > 0) row.oauth_scope = requestedScopes.join(" ").slice(0, MAX_SCOPE_LENGTH);
}

function exchange(tools: ToolService, request: BrokerRequest): Exchange {
  return {
    view: EMPTY_VIEW,
    async answer(call) {
      const answered = await tools.oauth(call, request);
      return isRefusal(answered) ? answered : written(answered);
    },
  };
}

function readRequest(
  call: Call,
  operationName: BrokerOperation,
  body: Uint8Array | null,
  scope: BrokerRequest["scope"],
): BrokerRequest | Refusal {
  const { headers, url } = call;
  const found = BROKER_PATH.exec(call.path) ?? SERVER_PATH.exec(call.path);
  const serverId = found?.[1] ?? "";
  call.row.server_id = serverId.slice(0, 200);
  if (body !== null && body.byteLength > MAX_BYTES) return refuse("body_too_large", "The request body is larger than the broker accepts.");
  const text = body === null ? "" : new TextDecoder().decode(body);
  const type = headers.get("content-type")?.toLowerCase() ?? "";
  const json = objectInJson(type.startsWith("application/json") ? text : "");
  const unclear = json === null ? null : ambiguousName(json);
  if (unclear !== null) return refuse("ambiguous_name", ambiguityOf(unclear));
  const twice = json === null ? null : repeatedName(text, json);
  if (twice !== null) return refuse("ambiguous_name", `The name ${JSON.stringify(twice.slice(0, 100))} stands twice in one object.`);
  return {
    operation: operationName,
    serverId,
    idpId: found?.[2] ?? null,
    recordId: found?.[3] ?? null,
    query: new URL(url).searchParams,
    form: new URLSearchParams(type.startsWith("application/x-www-form-urlencoded") ? text : ""),
    json,
    scope,
  };
}

function written(answer: BrokerAnswer): Answer {
  const cookie: Record<string, string> = "cookie" in answer && answer.cookie !== undefined ? { "set-cookie": answer.cookie } : {};
  switch (answer.kind) {
    case "json":
      // Metadata may be cached for a while, but nothing that contains a token.
      return ownAnswer(
        answer.status,
        {
          ...(answer.body === null ? {} : { "content-type": "application/json" }),
          "cache-control": answer.public === true ? "public, max-age=300" : "no-store",
          ...(answer.public === true ? { "access-control-allow-origin": "*" } : {}),
        },
        answer.body === null ? "" : JSON.stringify(answer.body),
      );
    case "passed":
      return ownAnswer(answer.status, { "content-type": "application/json", "cache-control": "no-store" }, answer.text);
    case "redirect":
      if (answer.asData === true)
        return ownAnswer(
          200,
          { "content-type": "application/json", "cache-control": "no-store", ...cookie },
          JSON.stringify({ authorize_url: answer.to }),
        );
      return ownAnswer(302, { location: answer.to, "cache-control": "no-store", "referrer-policy": "no-referrer", ...cookie });
    case "page":
      return ownAnswer(200, { ...PAGE_HEADERS, ...cookie }, plainPage(answer.title, answer.text));
    case "consent":
      return ownAnswer(200, { ...PAGE_HEADERS, ...cookie }, consentPage(answer));
    default:
      throw new Error("the broker answered in a way that has no form");
  }
}
