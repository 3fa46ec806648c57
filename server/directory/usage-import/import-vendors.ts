import type { ImportVendor, UsageImportProvider } from "@gatehouse/contracts/usage-import";

interface VendorRecord {
  readonly api_format: string;
  readonly base_url: string | null;
}

/** The vendor that bills for a provider; null if it cannot be queried. */
export function importVendorOf({ api_format: format, base_url: address }: VendorRecord, override: string | null): ImportVendor | null {
  switch (format) {
    case "openai":
      // Many servers speak OpenAI's format, but only OpenAI itself has its billing API.
      return override !== null || hostOf(address) === "api.openai.com" ? "openai" : null;
    case "anthropic":
      return "anthropic";
    case "gemini":
    case "vertex":
      return "google";
    case "azure_openai":
      return "azure";
    case "bedrock":
      return "aws";
    default:
      return null;
  }
}

function hostOf(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).hostname : null;
}

/** The finest breakdown of usage by vendor: only two report it by key. */
export const IMPORT_SPLITS: Readonly<Record<ImportVendor, NonNullable<UsageImportProvider["split"]>>> = {
  openai: "key",
  anthropic: "key",
  google: "project",
  azure: "resource",
  aws: "account",
};

const HOUR_MS = 3_600_000;

/** How long after a day the vendor's figures for it remain incomplete; until then, missing figures mean nothing. */
export const IMPORT_LAGS_MS: Readonly<Record<ImportVendor, number>> = {
  openai: 6 * HOUR_MS,
  anthropic: HOUR_MS / 6,
  google: 48 * HOUR_MS,
  azure: 24 * HOUR_MS,
  aws: 24 * HOUR_MS,
};
