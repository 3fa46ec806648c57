import type { DocumentPermissions } from "@gatehouse/contracts/knowledge-bases";
import type { Database } from "../../store/database.ts";
import { identitiesOf } from "../../store/knowledge/kb-identities.ts";

/** Everybody who may use the knowledge base. */
const EVERYBODY = "*";

/** No identity is empty, so that `type:` alone, by which a row remembers the type, is nobody. */
const sourcePrincipal = (connectorType: string, sourceIdentity: string) => `${connectorType}:${sourceIdentity}`;

/** As rows hold it; null: nothing is said. */
export function principalsOf(permissions: DocumentPermissions | null): string[] | null {
  if (permissions === null) return null;
  const { connector_type: type, identities } = permissions;
  return [
    ...new Set([`${type}:`, ...identities.map((identity) => (identity === EVERYBODY ? EVERYBODY : sourcePrincipal(type, identity)))]),
  ];
}

/** Who is let in by the one and by the other, as rows hold it. */
export function principalsOfBoth(before: readonly string[] | null, now: string[] | null): string[] | null {
  if (before === null || now === null) return now ?? (before === null ? null : [...before]);
  if (before.includes(EVERYBODY)) return now;
  if (now.includes(EVERYBODY)) return [...before];
  const [type, ...identities] = now;
  return [type as string, ...identities.filter((identity) => before.includes(identity))];
}

/** As people say it. */
export function sourcePermissions(principals: readonly string[] | null): DocumentPermissions | null {
  if (principals === null) return null;
  const type = principals.find((principal) => principal.endsWith(":"))?.slice(0, -1) ?? "";
  const identities = principals.filter((principal) => principal !== `${type}:`);
  return {
    connector_type: type as DocumentPermissions["connector_type"],
    identities: identities.map((principal) => (principal === EVERYBODY ? EVERYBODY : principal.slice(type.length + 1))),
  };
}

/** Who an end user is to the systems that documents come from; nobody's key is everybody and no one else. */
export async function readerPrincipals(db: Database, tenantId: string, endUserId: string | null): Promise<readonly string[]> {
  if (endUserId === null) return [EVERYBODY];
  const identities = await identitiesOf(db, tenantId, endUserId);
  return [EVERYBODY, ...identities.map(({ connector_type, source_identity }) => sourcePrincipal(connector_type, source_identity))];
}
