import type { Database } from "../../store/database.ts";
import { identitiesOf } from "../../store/kb-identities.ts";

/** Everybody who may use the knowledge base. */
const EVERYBODY = "*";

export const sourcePrincipal = (connectorType: string, sourceIdentity: string) => `${connectorType}:${sourceIdentity}`;

/** Who an end user is to the systems that documents come from; nobody's key is everybody and no one else. */
export async function readerPrincipals(db: Database, tenantId: string, endUserId: string | null): Promise<readonly string[]> {
  if (endUserId === null) return [EVERYBODY];
  const identities = await identitiesOf(db, tenantId, endUserId);
  return [EVERYBODY, ...identities.map(({ connector_type, source_identity }) => sourcePrincipal(connector_type, source_identity))];
}
