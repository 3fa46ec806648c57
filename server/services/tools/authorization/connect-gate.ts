import { reasonOf, type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { resultText } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { type ToolTarget, toolsOf } from "../../../road/target.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { canElicitUrl } from "../approvals/approval-question.ts";
import type { PausedCall } from "../approvals/paused-call.ts";
import { urlElicitation } from "../approvals/url-elicitation.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";
import { ownAnswer, type WholeAnswer } from "../../../road/answer.ts";
import { authorizationRequired } from "./authorize-server.ts";
import type { ServerAuthorizationParts } from "./authorization-parts.ts";
import { callerToken } from "./caller-token.ts";
import { openEnvelope, sealEnvelope } from "../../../road/admission/envelope.ts";
import { principalOfIdentity } from "./principal.ts";
import { renewedIfNeeded } from "./token-renewal.ts";

/** Key of the gateway's own question in `inputRequests`. */
const QUESTION = "gateway_connect";
const MAY_ASK = new Set(["tools/call", "prompts/get", "resources/read"]);
const QUESTION_TTL_MS = 900_000;

/**
 * Holds a call to a server that the caller has not connected yet: by URL elicitation in the client's dialect if it supports that, otherwise
 * with the protocol's 401. Null lets the call continue, with answers meant for the gateway removed.
 */
export async function connectGate(
  tools: ToolParts,
  call: Call,
  request: ToolRequest,
  { server }: ToolTarget,
): Promise<WholeAnswer | PausedCall | Refusal | null> {
  const { authorization: parts, begin } = tools;
  const { identity } = call;
  if (server.authType !== "oauth" || identity === null) return null;
  // Finding usable tokens may renew them, which contacts the issuer.
  const unrecorded = recordTarget(call, server.url, null, { begin });
  if (unrecorded !== null) return unrecorded;
  const answered = takeAnswer(parts, request);
  if (callerToken(server, call) !== null) return null;
  let usable: Awaited<ReturnType<typeof renewedIfNeeded>>;
  try {
    usable = await renewedIfNeeded(parts, principalOfIdentity(identity), server, identity.grantId);
  } catch (error) {
    return refuse("directory_unavailable", "What the caller may show the tool server cannot be looked up just now.", {
      reason: reasonOf(error),
      headers: { "retry-after": "1" },
    });
  }
  if (usable !== null) return isRefusal(usable) ? usable : null;
  const refusal = await authorizationRequired(parts, call, server);
  const { message, envelope } = request;
  // A paused call continues with the server state known now, but a server without a known dialect is only discovered once connected.
  const canShow =
    identity.workloadProviderId === undefined &&
    (envelope !== null || server.dialect !== null) &&
    MAY_ASK.has(message?.method ?? "") &&
    canElicitUrl(call, request, toolsOf(call)?.virtual?.id ?? server.id, tools);
  if (message === null || !canShow || refusal.code !== "upstream_authorization_required" || answered === "declined") return refusal;
  call.row.proxy_subtype = "upstream_authorization_required";
  const question = {
    mode: "url",
    url: String(refusal.extra?.connect_url),
    message: `${server.name} needs your authorization. Open the page to connect your account, then come back.`,
  } as const;
  if (envelope === null) {
    const poll = async () => {
      const found = await renewedIfNeeded(parts, principalOfIdentity(identity), server, identity.grantId);
      return found === null ? "wait" : isRefusal(found) ? found : null;
    };
    return {
      kind: "held",
      ask: urlElicitation(call, request, { ...question, elicitationId: ulid() }, poll, () => refusal, tools),
      headers: {},
    };
  }
  const result = {
    resultType: "input_required",
    inputRequests: { [QUESTION]: { method: "elicitation/create", params: question } },
    requestState: sealEnvelope(parts.secrets, "input", "", {}, parts.clock.now() + QUESTION_TTL_MS),
  };
  return ownAnswer(200, { "content-type": "application/json" }, resultText(message.id, JSON.stringify(result)));
}

/** Removes the answer to the gateway's own question from the request, because the server did not ask it. */
function takeAnswer({ secrets, clock }: ServerAuthorizationParts, { message }: ToolRequest): "declined" | "given" | null {
  const params = message?.params;
  if (params === undefined || typeof params.requestState !== "string") return null;
  if (openEnvelope(secrets, "input", "", params.requestState, clock.now()) === null) return null;
  const responses = params.inputResponses;
  const answer = isObject(responses) ? responses[QUESTION] : undefined;
  delete params.requestState;
  delete (params as JsonObject).inputResponses;
  message?.document.touch("params");
  return isObject(answer) && answer.action !== "accept" ? "declined" : "given";
}
