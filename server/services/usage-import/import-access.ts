import type { UsageImportProvider } from "@gatehouse/contracts/usage-import";
import { getImportProvider } from "../../directory/usage-import/import-settings.ts";
import { IMPORT_LAGS_MS } from "../../directory/usage-import/import-vendors.ts";
import { readImportKey } from "../../directory/usage-import/import-key.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { UsageAccess, UsageVendor } from "../../upstreams/usage/usage-vendor.ts";
import type { UsageVendors } from "./usage-vendors.ts";

export interface ImportAccess {
  readonly provider: UsageImportProvider;
  readonly vendor: UsageVendor;
  readonly access: UsageAccess;
  /** Figures younger than this are not complete yet. */
  readonly lagMs: number;
}

/** The vendor of a provider and the credentials for its account; if something is missing, a message that says what. */
export async function importAccess(
  { db, secrets }: Pick<Directory, "db" | "secrets">,
  vendors: UsageVendors,
  tenantId: string,
  providerId: string,
): Promise<ImportAccess | string> {
  const provider = await getImportProvider(db, tenantId, providerId);
  if (provider.vendor === null) return "Nobody tells of the use of this provider.";
  const apiKey = await readImportKey(db, secrets, tenantId, providerId);
  if (apiKey === null) return "The account's api_key is not set, or cannot be opened with this gateway's key.";
  const vendor = vendors[provider.vendor];
  const endpoint = provider.import_endpoint_override ?? vendor.endpoint;
  return { provider, vendor, access: { endpoint, apiKey, account: provider.import_account }, lagMs: IMPORT_LAGS_MS[provider.vendor] };
}
