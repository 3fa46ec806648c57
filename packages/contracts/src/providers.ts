import { z } from "zod";
import { mayPass } from "./passed-headers.ts";
import { type ApiFormat, PROVIDER_FORMATS } from "./provider-formats.ts";
import { httpUrl, pageQuery, recordId, recordName, search, timestamp, versionedUrl } from "./conventions.ts";

export const apiFormat = z.enum(Object.keys(PROVIDER_FORMATS) as ApiFormat[]);

export const providerKey = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "must be 1 to 63 lower-case letters, digits and . _ -");

/** A header value, or the key file of a Google service account: its JSON, as an object or as text. */
export const upstreamKey = z.union(
  [
    z.string().regex(/^[\x21-\x7e]{1,4096}$/),
    z
      .string()
      .max(16_384)
      .refine((text) => isKeyFile(parsed(text))),
    z.looseObject({ client_email: z.string(), private_key: z.string() }),
  ],
  { error: "must be visible ASCII without spaces, or the JSON key file of a service account" },
);

function isKeyFile(value: unknown): boolean {
  return typeof value === "object" && value !== null && "client_email" in value && "private_key" in value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Headers are stored and shown in plain text, so credentials are refused here; they belong in api_key, which is encrypted.
const CREDENTIAL = /auth|key|token|secret|cookie|password|credential/i;
const headers = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "is not a header name")
      .refine((name) => !CREDENTIAL.test(name), "may not carry a credential: use api_key"),
    z.string().regex(/^[\x20-\x7e]{0,2000}$/, "must be printable ASCII"),
  )
  .refine((all) => Object.keys(all).length <= 32, "must be at most 32 headers");

const passedHeaders = z
  .array(
    z
      .string()
      .toLowerCase()
      .regex(/^[a-z0-9][a-z0-9_-]{0,97}(?:-\*)?$/, "is not a header name, or the beginning of several with -* behind it")
      .refine(mayPass, "may not pass: it is the connection's, the gateway's own or a credential"),
  )
  .max(32);

/** The name of the output-token limit on a server of OpenAI's format. */
export const maxTokensParameter = z.enum(["max_tokens", "max_completion_tokens"]);

/** A bucket with a key prefix. Only characters that need no URL encoding are accepted. */
const storageUri = z
  .string()
  .max(1000)
  .regex(
    /^(?:s3|gs):\/\/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](?:\/[A-Za-z0-9._/-]*)?$/,
    "must be an address such as s3://bucket/prefix or gs://bucket/prefix, of letters, digits and . _ - /",
  )
  .refine(
    (text) =>
      text
        .split("/")
        .slice(3)
        .every((part, at, all) => !/^\.{1,2}$/.test(part) && (part !== "" || at + 1 === all.length)),
    { error: "must have no empty part, and none of dots only" },
  );

const roleArn = z
  .string()
  .max(2048)
  .regex(/^arn:aws[a-z-]{0,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/, "must be the ARN of a role: arn:aws:iam::123456789012:role/name");

/** Who runs batch jobs: the gateway or the provider. */
export const batchMode = z.enum(["gateway", "provider"]);

const written = {
  base_url: versionedUrl
    .nullable()
    .optional()
    .describe("with the version segment where the vendor has one, for example https://api.openai.com/v1"),
  api_key: upstreamKey.nullable().optional().describe("write-only; null removes it"),
  headers: headers.optional().describe("sent with every call of this provider"),
  pass_request_headers: passedHeaders
    .optional()
    .describe("further caller headers that are forwarded to the provider; a name that ends in -* is a prefix"),
  pass_response_headers: passedHeaders
    .optional()
    .describe("further headers of the provider's answers that are forwarded to callers; a name that ends in -* is a prefix"),
  max_tokens_parameter: maxTokensParameter
    .nullable()
    .optional()
    .describe(
      "the name that an OpenAI-compatible server uses for the output ceiling; null: the caller's name passes, and translated " +
        "requests use the vendor's",
    ),
  batch_mode: batchMode
    .optional()
    .describe("who runs batch jobs of its models: the gateway, line by line, or the provider in its own batches, at its batch price"),
  storage_uri: storageUri
    .nullable()
    .optional()
    .describe(
      "your bucket for the provider's batches, their results and its videos: s3://bucket/prefix for format bedrock, " +
        "gs://bucket/prefix for format vertex",
    ),
  storage_endpoint: httpUrl.nullable().optional().describe("address of that bucket's store; null: the vendor's"),
  storage_role_arn: roleArn.nullable().optional().describe("the role with which Bedrock reads and writes the bucket when it runs a batch"),
  region: z.string().min(1).max(100).nullable().optional().describe("where the provider processes data, for data residency"),
  enabled: z.boolean().optional(),
};

export const providerCreate = z
  .strictObject({
    provider_key: providerKey,
    name: recordName.optional().describe("default: the provider_key"),
    api_format: apiFormat,
    ...written,
  })
  .meta({ id: "ProviderCreate" });

export const providerUpdate = z
  .strictObject({ name: recordName.optional(), api_format: apiFormat.optional(), ...written })
  .meta({ id: "ProviderUpdate" });

export const provider = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    provider_key: z.string().describe("unique in the tenant; models name their provider by it"),
    name: z.string(),
    api_format: apiFormat,
    base_url: z.string().nullable(),
    has_api_key: z.boolean(),
    api_key_hint: z.string().nullable().describe("its last 4 characters"),
    headers: z.record(z.string(), z.string()),
    pass_request_headers: z.array(z.string()),
    pass_response_headers: z.array(z.string()),
    region: z.string().nullable(),
    max_tokens_parameter: maxTokensParameter.nullable(),
    batch_mode: batchMode,
    storage_uri: z.string().nullable(),
    storage_endpoint: z.string().nullable(),
    storage_role_arn: z.string().nullable(),
    enabled: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Provider" });

export const providerQuery = z.strictObject({ ...pageQuery.shape, search, provider_key: z.string().max(63).optional() });

export type UpstreamKey = z.output<typeof upstreamKey>;
export type ProviderRecord = z.output<typeof provider>;
export type ProviderCreate = z.output<typeof providerCreate>;
export type ProviderUpdate = z.output<typeof providerUpdate>;
export type ProviderQuery = z.output<typeof providerQuery>;
