import { objectInJson } from "../../../kernel/json-value.ts";

/** The parts of a Google service account's key file that are needed to authenticate. */
export interface ServiceAccount {
  readonly email: string;
  readonly privateKey: string;
  readonly keyId: string | null;
  readonly projectId: string | null;
  readonly tokenUri: string;
}

const TOKEN_URI = "https://oauth2.googleapis.com/token";

/** Parses a key file, as JSON or in base64. Null if it is not one, but an OAuth access token. */
export function readServiceAccount(apiKey: string): ServiceAccount | null {
  const file = objectInJson(apiKey) ?? objectInJson(Buffer.from(apiKey, "base64").toString("utf8"));
  if (file === null || typeof file.client_email !== "string" || typeof file.private_key !== "string") return null;
  return {
    email: file.client_email,
    privateKey: file.private_key,
    keyId: typeof file.private_key_id === "string" ? file.private_key_id : null,
    projectId: typeof file.project_id === "string" ? file.project_id : null,
    tokenUri: typeof file.token_uri === "string" ? file.token_uri : TOKEN_URI,
  };
}
