import type { IdentityProvider } from "@gatehouse/contracts/mcp-oauth";
import { issuerId } from "../../../directory/tools/issuer-id.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { discoverFromIssuer } from "./protected-servers.ts";

export async function describeIssuer(
  parts: { readonly send: ToolServerSend; readonly allowPrivate: boolean },
  issuer: string,
): Promise<IdentityProvider> {
  const at = await discoverFromIssuer(parts, issuer);
  const named = { issuer, idp_server_id: issuerId(issuer) };
  if (isRefusal(at))
    return {
      ...named,
      usable: false,
      problem: at.reason ?? at.message,
      authorization_endpoint: null,
      token_endpoint: null,
      dynamic_client_registration: false,
      client_id_metadata_documents: false,
      names_itself_in_answers: false,
      scopes_supported: [],
    };
  return {
    ...named,
    usable: true,
    problem: null,
    authorization_endpoint: at.authorizationEndpoint,
    token_endpoint: at.tokenEndpoint,
    dynamic_client_registration: at.registrationEndpoint !== null,
    client_id_metadata_documents: at.clientDocuments,
    names_itself_in_answers: at.namesItself,
    scopes_supported: [...at.scopes],
  };
}
