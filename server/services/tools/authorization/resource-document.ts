import type { BrokeredServer } from "./broker.ts";
import { brokerUrl, toolServerUrl } from "./protected-servers.ts";

/** The server's protected resource metadata with the gateway in its place (RFC 9728). */
export function resourceDocument(server: BrokeredServer, issuers: readonly string[], clientDocuments: boolean) {
  const scopes = server.says.scopes.filter((scope) => scope !== "offline_access");
  return {
    resource: toolServerUrl(server.base, server.id),
    authorization_servers: issuers.map((issuer) => brokerUrl(server.base, server.id, issuer)),
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    resource_name: server.name,
    client_id_metadata_document_supported: clientDocuments,
  };
}
