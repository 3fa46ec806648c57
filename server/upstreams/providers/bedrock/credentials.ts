import { type AwsKeys, signAwsRequest } from "../../../kernel/http/aws-signature.ts";

/** A credential for Bedrock: AWS keys that sign requests, or an API key sent as a bearer token. */
export type BedrockCredential = ({ readonly kind: "keys" } & AwsKeys) | { readonly kind: "bearer"; readonly token: string };

/** Parses `ACCESS_KEY_ID:SECRET` or `ACCESS_KEY_ID:SECRET:SESSION_TOKEN`; anything else is taken as a Bedrock API key. */
export function readBedrockCredential(apiKey: string): BedrockCredential {
  const keys = /^([A-Z0-9]{8,128}):([^:]+)(?::([^:]+))?$/.exec(apiKey);
  if (keys === null) return { kind: "bearer", token: apiKey };
  const [, accessKeyId, secretAccessKey, sessionToken] = keys;
  return {
    kind: "keys",
    accessKeyId: accessKeyId as string,
    secretAccessKey: secretAccessKey as string,
    sessionToken: sessionToken ?? null,
  };
}

export interface ToSign {
  /** POST by default. */
  readonly method?: "GET" | "POST";
  /** As it will be sent, with its path encoded once. */
  readonly url: string;
  readonly body: string;
  readonly region: string;
  readonly now: Date;
}

/** Signs a request to Bedrock (AWS Signature Version 4); POST bodies are JSON. Returns the headers to send with it. */
export function signedHeaders(
  credential: Extract<BedrockCredential, { kind: "keys" }>,
  { method = "POST", ...toSign }: ToSign,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = method === "GET" ? {} : { "content-type": "application/json" };
  return signAwsRequest(credential, { ...toSign, method, headers, service: "bedrock" });
}
