import type { DocumentPermissions } from "@gatehouse/contracts/knowledge-bases";
import type { Database } from "../../store/database.ts";
import { identitiesOf } from "../../store/knowledge/kb-identities.ts";

/** Stands for everybody who may use the knowledge base. */
const EVERYBODY = "*";

/** Identities are never empty, so the bare `type:` with which a row records the type matches nobody. */
const sourcePrincipal = (connectorType: string, sourceIdentity: string) => `${connectorType}:${sourceIdentity}`;

/** Converts to the stored form; null means unrestricted. */
export function principalsOf(permissions: DocumentPermissions | null): string[] | null {
  if (permissions === null) return null;
  const { connector_type: type, identities } = permissions;
  return [
    ...new Set([`${type}:`, ...identities.map((identity) => (identity === EVERYBODY ? EVERYBODY : sourcePrincipal(type, identity)))]),
  ];
}

/** The intersection of two stored sets of principals: those admitted by both. */
export function principalsOfBoth(before: readonly string[] | null, now: string[] | null): string[] | null {
  if (before === null || now === null) return now ?? (before === null ? null : [...before]);
  if (before.includes(EVERYBODY)) return now;
  if (now.includes(EVERYBODY)) return [...before];
  const [type, ...identities] = now;
  return [type as string, ...identities.filter((identity) => before.includes(identity))];
}

/** Converts from the stored form to that of the API. */
export function sourcePermissions(principals: readonly string[] | null): DocumentPermissions | null {
  if (principals === null) return null;
  const type = principals.find((principal) => principal.endsWith(":"))?.slice(0, -1) ?? "";
  const identities = principals.filter((principal) => principal !== `${type}:`);
  return {
    connector_type: type as DocumentPermissions["connector_type"],
    identities: identities.map((principal) => (principal === EVERYBODY ? EVERYBODY : principal.slice(type.length + 1))),
  };
}

/** An end user's identities in the systems that documents come from. A key without a user only matches what is open to everybody. */
export async function readerPrincipals(db: Database, tenantId: string, endUserId: string | null): Promise<readonly string[]> {
  if (endUserId === null) return [EVERYBODY];
  const identities = await identitiesOf(db, tenantId, endUserId);
  return [EVERYBODY, ...identities.map(({ connector_type, source_identity }) => sourcePrincipal(connector_type, source_identity))];
}
