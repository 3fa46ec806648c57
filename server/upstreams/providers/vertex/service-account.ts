import { isObject, type JsonObject } from "../../../wire/json/document.ts";

/** What of a Google service account's key file is needed to call as it. */
export interface ServiceAccount {
  readonly email: string;
  readonly privateKey: string;
  readonly keyId: string | null;
  readonly projectId: string | null;
  readonly tokenUri: string;
}

const TOKEN_URI = "https://oauth2.googleapis.com/token";

/** The key file's JSON, as text or in base64; null for what is no key file: an OAuth access token. */
export function readServiceAccount(apiKey: string): ServiceAccount | null {
  const file = jsonOf(apiKey) ?? jsonOf(Buffer.from(apiKey, "base64").toString("utf8"));
  if (file === null || typeof file.client_email !== "string" || typeof file.private_key !== "string") return null;
  return {
    email: file.client_email,
    privateKey: file.private_key,
    keyId: typeof file.private_key_id === "string" ? file.private_key_id : null,
    projectId: typeof file.project_id === "string" ? file.project_id : null,
    tokenUri: typeof file.token_uri === "string" ? file.token_uri : TOKEN_URI,
  };
}

function jsonOf(text: string): JsonObject | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
