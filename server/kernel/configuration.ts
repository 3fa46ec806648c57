import { allowedOrigins, type AllowedOrigins } from "./allowed-origins.ts";
import type { BucketSettings } from "./bucket-settings.ts";
import type { Collector } from "./collector-settings.ts";
import type { MailAddress, MailServer } from "./mail-settings.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";
import { availableParallelism } from "node:os";
import type { z } from "zod";
import { type ProcessRole, type Variable, VARIABLES } from "./variables.ts";

type Name = keyof typeof VARIABLES;

export class ConfigurationError extends Error {}

function read<N extends Name>(
  env: Readonly<Record<string, string | undefined>>,
  name: N,
): z.output<(typeof VARIABLES)[N]["schema"]> | undefined {
  const variable: Variable = VARIABLES[name];
  const given = env[name];
  const value = given === undefined || given === "" ? variable.default : given;
  if (value === undefined) return undefined;
  const parsed = variable.schema.safeParse(value);
  if (parsed.success) return parsed.data as z.output<(typeof VARIABLES)[N]["schema"]>;
  const shown = variable.secret ? "" : ` (it is ${JSON.stringify(value)})`;
  throw new ConfigurationError(`${name} ${parsed.error.issues[0]?.message ?? "is not valid"}${shown}`);
}

export interface Configuration {
  readonly host: string;
  readonly runtimePort: number;
  readonly adminPort: number;
  /** Without a closing slash. */
  readonly publicUrl: string | undefined;
  readonly adminPublicUrl: string | undefined;
  readonly trustedProxies: TrustedProxies;
  readonly roles: readonly ProcessRole[];
  /** That serve calls, on this machine. */
  readonly processes: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly valkeyUrl: string | undefined;
  readonly limitsWhenCountersAway: "closed" | "open";
  readonly secretKey: string | undefined;
  readonly jwtSecret: string | undefined;
  readonly jwtExpirySeconds: number;
  readonly auditSigningKey: string | undefined;
  readonly auditDurability: "strict" | "relaxed";
  readonly auditJournalMaxBytes: number;
  readonly auditCheckpointFile: string | undefined;
  readonly auditCheckpointBucket: BucketSettings | undefined;
  readonly blobBucket: BucketSettings | undefined;
  readonly knowledgeDir: string | undefined;
  readonly knowledgeBucket: BucketSettings | undefined;
  /** For passages that are searched in memory, at most. */
  readonly knowledgeMemoryBytes: number;
  readonly bootstrapAdminPassword: string | undefined;
  readonly quickstart: boolean;
  readonly drainSeconds: number;
  readonly drainNoticeSeconds: number;
  readonly strangerRowsPerMinute: number;
  /** What an AI System has to show before its baseline is frozen. */
  readonly learning: { readonly calls: number; readonly days: number };
  readonly maxBodyBytes: number;
  readonly upstreamTimeoutMs: number;
  readonly judgeModel: string | undefined;
  readonly allowPrivateUpstreams: boolean;
  readonly mcpStatelessProbe: boolean;
  readonly allowedOrigins: AllowedOrigins;
  /** Hosts that interfaces of tools may reach. */
  readonly toolAppDomains: readonly string[];
  /** Where traces and metrics are sent; null when nowhere. */
  readonly collector: Collector | null;
  /** Null when no mail is sent. */
  readonly mail: { readonly server: MailServer; readonly from: MailAddress } | null;
  /** Whether the host bound to is this machine only. */
  readonly loopback: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

/** Where checkpoints are put as objects; undefined when no bucket is named. Throws `ConfigurationError`. */
export function checkpointBucketSettings(env: Readonly<Record<string, string | undefined>>): BucketSettings | undefined {
  return bucketNamedBy("GW_AUDIT_CHECKPOINT_URL", env);
}

function bucketNamedBy(
  variable: "GW_AUDIT_CHECKPOINT_URL" | "GW_BLOB_URL" | "GW_KNOWLEDGE_URL",
  env: Readonly<Record<string, string | undefined>>,
): BucketSettings | undefined {
  const place = read(env, variable);
  if (place === undefined) return undefined;
  const accessKeyId = read(env, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = read(env, "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigurationError(`${variable} needs ${accessKeyId === undefined ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"}`);
  const region = read(env, "AWS_REGION") as string;
  return {
    ...place,
    region,
    endpoint: read(env, "AWS_ENDPOINT_URL_S3") ?? `https://s3.${region}.amazonaws.com`,
    keys: { accessKeyId, secretAccessKey, sessionToken: read(env, "AWS_SESSION_TOKEN") ?? null },
  };
}

function collectorOf(env: Readonly<Record<string, string | undefined>>): Collector | null {
  const url = read(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (url === undefined) return null;
  return {
    url,
    headers: read(env, "OTEL_EXPORTER_OTLP_HEADERS") ?? {},
    serviceName: read(env, "OTEL_SERVICE_NAME") as string,
    sampled: read(env, "OTEL_TRACES_SAMPLER_ARG") as number,
  };
}

/** One process keeps about two cores busy, with what the database does for it. */
function processesFor(cores: number): number {
  return Math.max(1, Math.min(8, Math.floor(cores / 2)));
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/** Throws `ConfigurationError` with one line that names the variable. */
export function readConfiguration(env: Readonly<Record<string, string | undefined>>): Configuration {
  const unknown = Object.keys(env).filter((name) => name.startsWith("GW_") && !(name in VARIABLES));
  if (unknown.length > 0) throw new ConfigurationError(`${unknown.join(", ")}: no such setting (see docs/reference/configuration.md)`);

  const host = read(env, "GW_HOST") as string;
  const mailServer = read(env, "GW_SMTP_URL");
  const mailSender = read(env, "GW_SMTP_FROM");
  if ((mailServer === undefined) !== (mailSender === undefined))
    throw new ConfigurationError("GW_SMTP_URL and GW_SMTP_FROM must be set together");
  return {
    host,
    runtimePort: read(env, "GW_RUNTIME_PORT") as number,
    adminPort: read(env, "GW_ADMIN_PORT") as number,
    publicUrl: read(env, "GW_PUBLIC_URL"),
    adminPublicUrl: read(env, "GW_ADMIN_PUBLIC_URL"),
    trustedProxies: read(env, "GW_TRUSTED_PROXIES") as TrustedProxies,
    roles: read(env, "GW_ROLES") as ProcessRole[],
    processes: (read(env, "GW_PROCESSES") as number | undefined) ?? processesFor(availableParallelism()),
    dataDir: read(env, "GW_DATA_DIR") as string,
    databaseUrl: read(env, "DATABASE_URL"),
    valkeyUrl: read(env, "VALKEY_URL"),
    limitsWhenCountersAway: read(env, "GW_LIMITS_WHEN_COUNTERS_AWAY") as "closed" | "open",
    secretKey: read(env, "GW_SECRET_KEY"),
    jwtSecret: read(env, "GW_JWT_SECRET"),
    jwtExpirySeconds: read(env, "GW_JWT_EXPIRY_SECONDS") as number,
    auditSigningKey: read(env, "GW_AUDIT_SIGNING_KEY"),
    auditDurability: read(env, "GW_AUDIT_DURABILITY") as "strict" | "relaxed",
    auditJournalMaxBytes: (read(env, "GW_AUDIT_JOURNAL_MAX_MB") as number) * 1024 * 1024,
    auditCheckpointFile: read(env, "GW_AUDIT_CHECKPOINT_FILE"),
    auditCheckpointBucket: checkpointBucketSettings(env),
    blobBucket: bucketNamedBy("GW_BLOB_URL", env),
    knowledgeDir: read(env, "GW_KNOWLEDGE_DIR"),
    knowledgeBucket: bucketNamedBy("GW_KNOWLEDGE_URL", env),
    knowledgeMemoryBytes: (read(env, "GW_KNOWLEDGE_MEMORY_MB") as number) * 1024 * 1024,
    bootstrapAdminPassword: read(env, "GW_BOOTSTRAP_ADMIN_PASSWORD"),
    quickstart: read(env, "GW_QUICKSTART") as boolean,
    drainSeconds: read(env, "GW_DRAIN_SECONDS") as number,
    drainNoticeSeconds: read(env, "GW_DRAIN_NOTICE_SECONDS") as number,
    strangerRowsPerMinute: read(env, "GW_STRANGER_ROWS_PER_MINUTE") as number,
    maxBodyBytes: (read(env, "GW_MAX_BODY_MB") as number) * 1024 * 1024,
    upstreamTimeoutMs: (read(env, "GW_UPSTREAM_TIMEOUT_SECONDS") as number) * 1000,
    learning: { calls: read(env, "GW_BASELINE_CALLS") as number, days: read(env, "GW_BASELINE_DAYS") as number },
    judgeModel: read(env, "GW_JUDGE_MODEL"),
    allowPrivateUpstreams: read(env, "GW_ALLOW_PRIVATE_UPSTREAMS") ?? LOOPBACK.has(host),
    mcpStatelessProbe: read(env, "GW_MCP_STATELESS_PROBE") as boolean,
    allowedOrigins: allowedOrigins(
      (read(env, "GW_ALLOWED_ORIGINS") ?? []) as string[],
      (read(env, "GW_MCP_ALLOWED_ORIGINS") ?? []) as string[],
    ),
    toolAppDomains: (read(env, "GW_MCP_APP_DOMAINS") ?? []) as string[],
    collector: collectorOf(env),
    mail: mailServer === undefined || mailSender === undefined ? null : { server: mailServer, from: mailSender },
    loopback: LOOPBACK.has(host),
    logLevel: read(env, "GW_LOG_LEVEL") as Configuration["logLevel"],
  };
}
