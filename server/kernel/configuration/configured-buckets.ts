import type { BucketSettings } from "./bucket-settings.ts";
import { readVariable, ConfigurationError } from "./read-variable.ts";

/** The bucket where checkpoints are stored; undefined if none is configured. Throws `ConfigurationError`. */
export function checkpointBucketSettings(env: Readonly<Record<string, string | undefined>>): BucketSettings | undefined {
  return bucketNamedBy("GW_AUDIT_CHECKPOINT_URL", env);
}

export function bucketNamedBy(
  variable: "GW_AUDIT_CHECKPOINT_URL" | "GW_BLOB_URL" | "GW_KNOWLEDGE_URL",
  env: Readonly<Record<string, string | undefined>>,
): BucketSettings | undefined {
  const place = readVariable(env, variable);
  if (place === undefined) return undefined;
  const accessKeyId = readVariable(env, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = readVariable(env, "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigurationError(`${variable} needs ${accessKeyId === undefined ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"}`);
  const region = readVariable(env, "AWS_REGION") as string;
  return {
    ...place,
    region,
    endpoint: readVariable(env, "AWS_ENDPOINT_URL_S3") ?? `https://s3.${region}.amazonaws.com`,
    keys: { accessKeyId, secretAccessKey, sessionToken: readVariable(env, "AWS_SESSION_TOKEN") ?? null },
  };
}
