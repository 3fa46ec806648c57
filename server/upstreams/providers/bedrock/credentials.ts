import { type AwsKeys, signAwsRequest } from "../../../kernel/http/aws-signature.ts";

/** How Bedrock is told who calls: a signature made with AWS keys, or an API key sent as it is. */
export type BedrockCredential = ({ readonly kind: "keys" } & AwsKeys) | { readonly kind: "bearer"; readonly token: string };

/** `ACCESS_KEY_ID:SECRET` or `ACCESS_KEY_ID:SECRET:SESSION_TOKEN`; anything else is an API key of Bedrock's own. */
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
  /** POST when left out. */
  readonly method?: "GET" | "POST";
  /** As it will be sent, its path encoded once. */
  readonly url: string;
  readonly body: string;
  readonly region: string;
  readonly now: Date;
}

/** AWS Signature Version 4 of a request to service `bedrock`, JSON where it is a POST. Gives the headers to send with it. */
export function signedHeaders(
  credential: Extract<BedrockCredential, { kind: "keys" }>,
  { method = "POST", ...toSign }: ToSign,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = method === "GET" ? {} : { "content-type": "application/json" };
  return signAwsRequest(credential, { ...toSign, method, headers, service: "bedrock" });
}
