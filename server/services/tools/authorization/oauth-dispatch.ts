import { issuerId } from "../../../directory/tools/issuer-id.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { refuseHost } from "../origin.ts";
import type { ToolParts } from "../tool-parts.ts";
import { authorize } from "./authorize.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { type Broker, brokeredServer, brokerOf } from "./broker.ts";
import { serverDocument, takesClientDocuments } from "./broker-documents.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { handleIssuerCallback } from "./callback.ts";
import { decideConsent } from "./consent.ts";
import { deleteOwnToken, ownTokenAccount, ownTokens, revokeToken } from "./own-tokens.ts";
import { registerClient } from "./register-client.ts";
import { resourceDocument } from "./resource-document.ts";
import { exchangeToken } from "./token.ts";
import { clientDocumentUrl, ownClientMetadata } from "./upstream-clients.ts";

export type OAuthDispatch = (call: Call, request: BrokerRequest) => Promise<BrokerAnswer | Refusal>;

/** The OAuth broker (interface 4.5): handles every request to it. */
export function oauthDispatch(parts: AuthorizationParts & Pick<ToolParts, "begin" | "origins">): OAuthDispatch {
  return async (call, request) => {
    const stranger = refuseHost(call, parts.origins);
    if (stranger !== null) return stranger;
    // Any of these requests may contact the server or its issuer.
    const unrecorded = recordTarget(call, call.path, null, parts);
    if (unrecorded !== null) return unrecorded;
    call.row.target_url = null;
    const account = await ownTokenAccount(parts, call, request);
    if (account !== null) {
      call.row.target_url = account.issuer;
      return request.operation === "list_tokens" ? ownTokens(parts, call, account) : deleteOwnToken(parts, call, account, request);
    }
    const server = await brokeredServer(parts, call, request.serverId);
    if (isRefusal(server)) return server;
    const idpId = request.idpId ?? issuerId(server.says.issuers[0] as string);
    const broker = await brokerOf(parts, call, request.serverId, idpId);
    if (isRefusal(broker)) return broker;
    call.row.target_url = broker.at.issuer;
    return answer(parts, call, broker, request);
  };
}

async function answer(parts: AuthorizationParts, call: Call, broker: Broker, request: BrokerRequest): Promise<BrokerAnswer | Refusal> {
  switch (request.operation) {
    case "resource_metadata":
      return {
        kind: "json",
        status: 200,
        public: true,
        body: resourceDocument(
          broker,
          request.idpId === null ? broker.says.issuers : [broker.at.issuer],
          await takesClientDocuments(parts, broker),
        ),
      };
    case "server_metadata":
      return { kind: "json", status: 200, public: true, body: serverDocument(broker, await takesClientDocuments(parts, broker)) };
    case "client_metadata":
      return {
        kind: "json",
        status: 200,
        public: true,
        body: { client_id: clientDocumentUrl(broker.broker), ...ownClientMetadata(broker.broker, "none") },
      };
    case "authorize":
      return authorize(parts, call, broker, request);
    case "decide":
      return decideConsent(parts, call, broker, request);
    case "callback":
      return handleIssuerCallback(parts, call, broker, request);
    case "token":
      return exchangeToken(parts, call, broker, request);
    case "revoke":
      return revokeToken(parts, call, broker, request);
    case "register":
      return registerClient(parts, broker, request);
    case "list_tokens":
      return ownTokens(parts, call, { ...broker, issuer: broker.at.issuer });
    case "delete_token":
      return deleteOwnToken(parts, call, { ...broker, issuer: broker.at.issuer }, request);
    default:
      return refuse("not_found");
  }
}
