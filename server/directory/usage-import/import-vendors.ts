import type { ImportVendor, UsageImportProvider } from "@gatehouse/contracts/usage-import";

interface VendorRecord {
  readonly api_format: string;
  readonly base_url: string | null;
}

/** Whose bill the use of a provider stands on; null where nobody can be asked. */
export function importVendorOf({ api_format: format, base_url: address }: VendorRecord, override: string | null): ImportVendor | null {
  switch (format) {
    case "openai":
      // Many servers speak OpenAI's format; its bill is its own.
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

/** How finely each says who used it: only two tell of keys. */
export const IMPORT_SPLITS: Readonly<Record<ImportVendor, NonNullable<UsageImportProvider["split"]>>> = {
  openai: "key",
  anthropic: "key",
  google: "project",
  azure: "resource",
  aws: "account",
};

const HOUR_MS = 3_600_000;

/** How long after a day a vendor's figures of it are not complete: until then, that it tells nothing of the day says nothing. */
export const IMPORT_LAGS_MS: Readonly<Record<ImportVendor, number>> = {
  openai: 6 * HOUR_MS,
  anthropic: HOUR_MS / 6,
  google: 48 * HOUR_MS,
  azure: 24 * HOUR_MS,
  aws: 24 * HOUR_MS,
};
