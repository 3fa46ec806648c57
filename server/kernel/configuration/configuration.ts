import { allowedOrigins, type AllowedOrigins } from "./allowed-origins.ts";
import type { BucketSettings } from "./bucket-settings.ts";
import type { Collector } from "./collector-settings.ts";
import { checkpointBucketSettings, bucketNamedBy } from "./configured-buckets.ts";
import type { MailAddress, MailServer } from "./mail-settings.ts";
import { editsBetween } from "../text/edits-between.ts";
import { readVariable, ConfigurationError } from "./read-variable.ts";
import type { TrustedProxies } from "../http/trusted-proxies.ts";
import { availableParallelism } from "node:os";
import { type ProcessRole, VARIABLES } from "./variables.ts";

export interface Configuration {
  readonly host: string;
  readonly runtimePort: number;
  readonly adminPort: number;
  /** Without a trailing slash. */
  readonly publicUrl: string | undefined;
  readonly adminPublicUrl: string | undefined;
  readonly trustedProxies: TrustedProxies;
  readonly roles: readonly ProcessRole[];
  /** Processes on this machine that serve calls. */
  readonly processes: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly valkeyUrl: string | undefined;
  readonly limitsWhenCountersAway: "closed" | "open";
  readonly secretKey: string | undefined;
  /** Beside it, while it is being changed. */
  readonly secretKeyNext: string | undefined;
  readonly secretKeyPrevious: string | undefined;
  readonly jwtSecret: string | undefined;
  readonly jwtExpirySeconds: number;
  readonly auditSigningKey: string | undefined;
  readonly auditDurability: "strict" | "relaxed";
  readonly auditJournalMaxBytes: number;
  readonly auditShipWaitMs: number;
  readonly auditCheckpointFile: string | undefined;
  readonly auditCheckpointBucket: BucketSettings | undefined;
  readonly blobBucket: BucketSettings | undefined;
  readonly knowledgeDir: string | undefined;
  readonly knowledgeBucket: BucketSettings | undefined;
  /** Most bytes of memory for searching passages. */
  readonly knowledgeMemoryBytes: number;
  readonly bootstrapAdminPassword: string | undefined;
  readonly quickstart: boolean;
  readonly drainSeconds: number;
  readonly drainNoticeSeconds: number;
  readonly strangerRowsPerMinute: number;
  /** What an AI System needs before its baseline is frozen. */
  readonly learning: { readonly calls: number; readonly days: number };
  readonly maxBodyBytes: number;
  readonly upstreamTimeoutMs: number;
  readonly judgeModel: string | undefined;
  readonly allowPrivateUpstreams: boolean;
  readonly proxyRefusesPrivate: boolean;
  readonly mcpStatelessProbe: boolean;
  readonly allowedOrigins: AllowedOrigins;
  /** Hosts that user interfaces of tools may reach. */
  readonly toolAppDomains: readonly string[];
  /** Where traces and metrics are sent; null if nowhere. */
  readonly collector: Collector | null;
  /** Null if no mail is sent. */
  readonly mail: { readonly server: MailServer; readonly from: MailAddress } | null;
  /** Whether the gateway binds only to this machine. */
  readonly loopback: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

function collectorOf(env: Readonly<Record<string, string | undefined>>): Collector | null {
  const url = readVariable(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (url === undefined) return null;
  return {
    url,
    headers: readVariable(env, "OTEL_EXPORTER_OTLP_HEADERS") ?? {},
    serviceName: readVariable(env, "OTEL_SERVICE_NAME") as string,
    sampled: readVariable(env, "OTEL_TRACES_SAMPLER_ARG") as number,
  };
}

/** One process keeps about two cores busy, including the database's work for it. */
function processesFor(cores: number): number {
  return Math.max(1, Math.min(8, Math.floor(cores / 2)));
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/** Most edits between a mistyped name and the setting that is suggested. */
const MISTYPED = 3;

/** The spellings under which a setting is found: some call any port `GW_PORT`. */
const formsOf = (known: string): string[] => [known, known.replace(/^GW_.*_PORT$/, "GW_PORT")];

function noSuchSettings(names: readonly string[]): string {
  const meant = names.flatMap((name) => {
    // Short words would be near to any other.
    const most = Math.min(MISTYPED, Math.floor((name.length - "GW_".length) / 2));
    const near = Object.keys(VARIABLES).map((known) => ({
      known,
      edits: Math.min(...formsOf(known).map((form) => editsBetween(form, name, most))),
    }));
    const least = Math.min(most, ...near.map(({ edits }) => edits));
    return near.filter(({ edits }) => edits === least).map(({ known }) => known);
  });
  const hint = meant.length === 0 ? "" : `is ${[...new Set(meant)].join(" or ")} meant? `;
  return `${names.join(", ")}: no such setting (${hint}see docs/reference/configuration.md)`;
}

/** The runtime would take any certificate, of upstreams and of the database alike. */
const UNVERIFIED =
  "NODE_TLS_REJECT_UNAUTHORIZED must not be 0: certificates are always verified, and NODE_EXTRA_CA_CERTS names those of your own authorities";

/** Throws `ConfigurationError` with one line that names the variable. */
export function readConfiguration(env: Readonly<Record<string, string | undefined>>): Configuration {
  const unknown = Object.keys(env).filter((name) => name.startsWith("GW_") && !(name in VARIABLES));
  if (unknown.length > 0) throw new ConfigurationError(noSuchSettings(unknown));

  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") throw new ConfigurationError(UNVERIFIED);

  const host = readVariable(env, "GW_HOST") as string;
  const mailServer = readVariable(env, "GW_SMTP_URL");
  const mailSender = readVariable(env, "GW_SMTP_FROM");
  if ((mailServer === undefined) !== (mailSender === undefined))
    throw new ConfigurationError("GW_SMTP_URL and GW_SMTP_FROM must be set together");
  const runtimePort = readVariable(env, "GW_RUNTIME_PORT") as number;
  const adminPort = readVariable(env, "GW_ADMIN_PORT") as number;
  if (runtimePort === adminPort && runtimePort !== 0)
    throw new ConfigurationError(`GW_RUNTIME_PORT and GW_ADMIN_PORT must be two ports, and both are ${adminPort}`);
  return {
    host,
    runtimePort,
    adminPort,
    publicUrl: readVariable(env, "GW_PUBLIC_URL"),
    adminPublicUrl: readVariable(env, "GW_ADMIN_PUBLIC_URL"),
    trustedProxies: readVariable(env, "GW_TRUSTED_PROXIES") as TrustedProxies,
    roles: readVariable(env, "GW_ROLES") as ProcessRole[],
    processes: (readVariable(env, "GW_PROCESSES") as number | undefined) ?? processesFor(availableParallelism()),
    dataDir: readVariable(env, "GW_DATA_DIR") as string,
    databaseUrl: readVariable(env, "DATABASE_URL"),
    valkeyUrl: readVariable(env, "VALKEY_URL"),
    limitsWhenCountersAway: readVariable(env, "GW_LIMITS_WHEN_COUNTERS_AWAY") as "closed" | "open",
    secretKey: readVariable(env, "GW_SECRET_KEY"),
    secretKeyNext: readVariable(env, "GW_SECRET_KEY_NEXT"),
    secretKeyPrevious: readVariable(env, "GW_SECRET_KEY_PREVIOUS"),
    jwtSecret: readVariable(env, "GW_JWT_SECRET"),
    jwtExpirySeconds: readVariable(env, "GW_JWT_EXPIRY_SECONDS") as number,
    auditSigningKey: readVariable(env, "GW_AUDIT_SIGNING_KEY"),
    auditDurability: readVariable(env, "GW_AUDIT_DURABILITY") as "strict" | "relaxed",
    auditJournalMaxBytes: (readVariable(env, "GW_AUDIT_JOURNAL_MAX_MB") as number) * 1024 * 1024,
    auditShipWaitMs: readVariable(env, "GW_AUDIT_SHIP_WAIT_MS") as number,
    auditCheckpointFile: readVariable(env, "GW_AUDIT_CHECKPOINT_FILE"),
    auditCheckpointBucket: checkpointBucketSettings(env),
    blobBucket: bucketNamedBy("GW_BLOB_URL", env),
    knowledgeDir: readVariable(env, "GW_KNOWLEDGE_DIR"),
    knowledgeBucket: bucketNamedBy("GW_KNOWLEDGE_URL", env),
    knowledgeMemoryBytes: (readVariable(env, "GW_KNOWLEDGE_MEMORY_MB") as number) * 1024 * 1024,
    bootstrapAdminPassword: readVariable(env, "GW_BOOTSTRAP_ADMIN_PASSWORD"),
    quickstart: readVariable(env, "GW_QUICKSTART") as boolean,
    drainSeconds: readVariable(env, "GW_DRAIN_SECONDS") as number,
    drainNoticeSeconds: readVariable(env, "GW_DRAIN_NOTICE_SECONDS") as number,
    strangerRowsPerMinute: readVariable(env, "GW_STRANGER_ROWS_PER_MINUTE") as number,
    maxBodyBytes: (readVariable(env, "GW_MAX_BODY_MB") as number) * 1024 * 1024,
    upstreamTimeoutMs: (readVariable(env, "GW_UPSTREAM_TIMEOUT_SECONDS") as number) * 1000,
    learning: { calls: readVariable(env, "GW_BASELINE_CALLS") as number, days: readVariable(env, "GW_BASELINE_DAYS") as number },
    judgeModel: readVariable(env, "GW_JUDGE_MODEL"),
    allowPrivateUpstreams: readVariable(env, "GW_ALLOW_PRIVATE_UPSTREAMS") ?? LOOPBACK.has(host),
    proxyRefusesPrivate: readVariable(env, "GW_PROXY_REFUSES_PRIVATE") as boolean,
    mcpStatelessProbe: readVariable(env, "GW_MCP_STATELESS_PROBE") as boolean,
    allowedOrigins: allowedOrigins(
      (readVariable(env, "GW_ALLOWED_ORIGINS") ?? []) as string[],
      (readVariable(env, "GW_MCP_ALLOWED_ORIGINS") ?? []) as string[],
    ),
    toolAppDomains: (readVariable(env, "GW_MCP_APP_DOMAINS") ?? []) as string[],
    collector: collectorOf(env),
    mail: mailServer === undefined || mailSender === undefined ? null : { server: mailServer, from: mailSender },
    loopback: LOOPBACK.has(host),
    logLevel: readVariable(env, "GW_LOG_LEVEL") as Configuration["logLevel"],
  };
}
