import { type IdentityProviderRow, enabledProviders } from "../../store/sign-on/identity-providers.ts";
import { signOnProviderById } from "../../store/sign-on/sign-on.ts";
import { sealContext } from "../../kernel/secrets.ts";
import type { Directory } from "../writes/write.ts";
import { settingsOf } from "./identity-providers.ts";

/** A provider as sign-in uses it. */
export interface SignOnPlace {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly kind: "oidc" | "saml";
  readonly audience: "portal" | "admin" | "api";
  readonly settings: ReturnType<typeof settingsOf>;
  readonly clientSecret: string | null;
  /** There is a client secret that was sealed under another key. */
  readonly isSecretUnreadable: boolean;
  /** Changes whenever the record does. */
  readonly version: string;
}

function placeOf({ secrets }: Directory, row: IdentityProviderRow): SignOnPlace {
  const clientSecret = secrets.openOrNull(row.client_secret_sealed, sealContext("identity_providers", row.id));
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    kind: row.kind,
    audience: row.audience,
    settings: settingsOf(row),
    clientSecret,
    isSecretUnreadable: clientSecret === null && row.client_secret_sealed !== null,
    version: `${row.id} ${row.updated_at.getTime()}`,
  };
}

export async function signOnPlace(directory: Directory, id: string): Promise<SignOnPlace | undefined> {
  const row = await signOnProviderById(directory.db, id);
  return row === undefined ? undefined : placeOf(directory, row);
}

/** The providers offered on the tenant's sign-in page. */
export async function offeredProviders(
  directory: Directory,
  tenantId: string,
  audience: "portal" | "admin",
): Promise<{ id: string; name: string; kind: "oidc" | "saml" }[]> {
  return (await enabledProviders(directory.db, tenantId, audience)).map(({ id, name, kind }) => ({ id, name, kind }));
}
