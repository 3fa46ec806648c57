import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { allowedOrigins, type AllowedOrigins, origins } from "./allowed-origins.ts";
import { appDomains } from "./app-domains.ts";
import { bucketEndpoint, bucketPlace, type BucketSettings } from "./bucket-settings.ts";
import { isAddress, isWebAddress } from "./web-address.ts";
import { type MailAddress, mailFrom, type MailServer, smtpUrl } from "./mail-settings.ts";
import { type TrustedProxies, trustedProxies } from "./trusted-proxies.ts";

/**
 * Every environment variable the gateway reads. docs/reference/configuration.md is generated from this table; a name
 * that starts with GW_ and is not here stops the start.
 */

const integer = (min: number, max: number) =>
  z.string().regex(/^\d+$/, "must be a whole number").transform(Number).pipe(z.number().int().min(min).max(max));
const onOff = z.enum(["on", "off"]).transform((value) => value === "on");
const text = z.string().min(1);
/** Keys are pasted, or read from files that end with a line break, and none has blanks around it. */
const key = z.string().trim().min(1, "must not be blank");

export const ROLES = ["runtime", "control", "worker"] as const;
export type ProcessRole = (typeof ROLES)[number];

const roles = z.string().transform((value, ctx) => {
  const names = value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const bad = names.filter((name) => !(ROLES as readonly string[]).includes(name));
  if (bad.length > 0 || names.length === 0) {
    ctx.addIssue({ code: "custom", message: `must be a comma list of ${ROLES.join(", ")}` });
    return z.NEVER;
  }
  return names as ProcessRole[];
});

const publicUrl = z.string().transform((value, ctx) => {
  if (value === "" || isWebAddress(value)) return value.replace(/\/+$/, "");
  ctx.addIssue({ code: "custom", message: "must be an address such as https://gateway.example" });
  return z.NEVER;
});

/** What a login takes: no more, and not the line break a file ends with. */
const firstPassword = z
  .string()
  .transform((value) => value.replace(/[\r\n]+$/, ""))
  .pipe(z.string().min(8, "must be at least 8 characters").max(200, "must be at most 200 characters"));

const base64Of32Bytes = z.string().refine((value) => Buffer.from(value, "base64").byteLength === 32, "must be 32 bytes, base64");

function isSigningKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}

const signingKey = z.string().refine(isSigningKey, "must be an Ed25519 private key, PEM");

/** What its client takes: an address of one of these schemes, or a host alone. */
const VALKEY_SCHEME = /^(?:(?:redis|valkey)s?|redis\+tls|(?:redis|valkey|redis\+tls)\+unix):\/\//;
const valkeyUrl = z
  .string()
  .refine(
    (value) => (value.includes("://") ? VALKEY_SCHEME.test(value) && isAddress(value) : isAddress(`redis://${value}`)),
    "must be an address such as redis://valkey.example:6379",
  );

/** What its driver reads as the address of a server; it takes anything else for the name of a database on a host it makes up. */
const databaseUrl = z
  .string()
  .regex(/^(?:postgres(?:ql)?:\/\/|socket:|\/)/, "must be an address such as postgres://user:password@postgres.example:5432/gatehouse");

interface Variable {
  readonly schema: z.ZodType;
  readonly default?: string;
  readonly meaning: string;
  readonly secret?: true;
}

export const VARIABLES = {
  GW_HOST: { schema: text, default: "127.0.0.1", meaning: "address both planes bind to" },
  GW_RUNTIME_PORT: { schema: integer(0, 65535), default: "8080", meaning: "port of the runtime plane; 0 picks a free one" },
  GW_ADMIN_PORT: { schema: integer(0, 65535), default: "8081", meaning: "port of the control plane; 0 picks a free one" },
  GW_PUBLIC_URL: {
    schema: publicUrl,
    meaning:
      "address of the runtime plane as clients and browsers know it, such as https://gateway.example; without it the one " +
      "each request came to",
  },
  GW_ADMIN_PUBLIC_URL: {
    schema: publicUrl,
    meaning: "address of the control plane as browsers know it, for sign-in by identity providers; without it the one each request came to",
  },
  GW_TRUSTED_PROXIES: {
    schema: trustedProxies,
    default: "",
    meaning:
      "comma list of addresses and ranges (IPv4 and IPv6, such as 10.0.0.0/8) of the proxies in front of both planes: from " +
      "these, and from no one else, X-Forwarded-For is believed",
  },
  GW_ROLES: { schema: roles, default: ROLES.join(","), meaning: "which roles this process has; a fleet runs them apart" },
  GW_DATA_DIR: { schema: text, default: "./data", meaning: "embedded database, audit journal and generated secrets (mode 0700)" },
  DATABASE_URL: {
    schema: databaseUrl,
    secret: true,
    meaning: "PostgreSQL 15 or newer; without it an embedded PostgreSQL runs under GW_DATA_DIR",
  },
  VALKEY_URL: {
    schema: valkeyUrl,
    secret: true,
    meaning: "Valkey or Redis 7 or newer, for counters that many processes share; without it each process counts for itself",
  },
  GW_LIMITS_WHEN_COUNTERS_AWAY: {
    schema: z.enum(["closed", "open"]),
    default: "closed",
    meaning: "whether calls under rate limits alone go on while the shared counters are away; quotas and hard budgets always refuse then",
  },
  GW_SECRET_KEY: {
    schema: base64Of32Bytes,
    secret: true,
    meaning:
      "32 bytes, base64: wraps stored upstream secrets, and derives the HMAC keys and the key of admin tokens; generated into GW_DATA_DIR",
  },
  GW_JWT_SECRET: {
    schema: z.string().min(32, "must be at least 32 characters"),
    secret: true,
    meaning: "signs portal tokens (HS256), and may be shared with a portal that issues them; generated into GW_DATA_DIR",
  },
  GW_JWT_EXPIRY_SECONDS: { schema: integer(60, 86_400 * 30), default: "3600", meaning: "lifetime of portal and admin tokens" },
  GW_AUDIT_SIGNING_KEY: {
    schema: signingKey,
    secret: true,
    meaning: "Ed25519 private key (PEM) that signs checkpoints; generated into GW_DATA_DIR",
  },
  GW_AUDIT_DURABILITY: {
    schema: z.enum(["strict", "relaxed"]),
    default: "strict",
    meaning: "strict: an answer ends only after its audit row is on stable storage; relaxed: it does not wait",
  },
  GW_AUDIT_JOURNAL_MAX_MB: {
    schema: integer(16, 1_048_576),
    default: "4096",
    meaning: "disk the audit journal may take while the database is away; then calls are refused",
  },
  GW_AUDIT_CHECKPOINT_FILE: {
    schema: text,
    meaning: "file every signed checkpoint is appended to as well, best where the database's administrator cannot write",
  },
  GW_AUDIT_CHECKPOINT_URL: {
    schema: bucketPlace,
    meaning:
      "s3://bucket/prefix: where every signed checkpoint is put as an object of its own, in an S3-compatible store; with the " +
      "AWS_ variables below",
  },
  GW_BLOB_URL: {
    schema: bucketPlace,
    meaning:
      "s3://bucket/prefix: where the bytes of callers' files are stored, with the AWS_ variables below; without it a directory " +
      "under GW_DATA_DIR, which serves one process only",
  },
  AWS_ACCESS_KEY_ID: { schema: key, meaning: "access key of that store; needed with GW_AUDIT_CHECKPOINT_URL and GW_BLOB_URL" },
  AWS_SECRET_ACCESS_KEY: { schema: key, secret: true, meaning: "its secret; needed with GW_AUDIT_CHECKPOINT_URL and GW_BLOB_URL" },
  AWS_SESSION_TOKEN: { schema: key, secret: true, meaning: "token that goes with keys for a time" },
  AWS_REGION: {
    schema: z.string().regex(/^[a-z0-9-]{1,40}$/, "must be a region such as eu-central-1"),
    default: "us-east-1",
    meaning: "region of the bucket",
  },
  AWS_ENDPOINT_URL_S3: {
    schema: bucketEndpoint,
    meaning: "address of the store, such as https://minio.example:9000; without it that of AWS in the region",
  },
  GW_BOOTSTRAP_ADMIN_PASSWORD: {
    schema: firstPassword,
    secret: true,
    meaning: "password of the first system admin `admin`; generated and printed once",
  },
  GW_QUICKSTART: { schema: onOff, default: "on", meaning: "off: the first start makes no group, key, user and models" },
  GW_DRAIN_SECONDS: { schema: integer(0, 3600), default: "30", meaning: "how long calls in flight may take to finish after SIGTERM" },
  GW_DRAIN_NOTICE_SECONDS: {
    schema: integer(0, 3600),
    default: "2",
    meaning: "how long after SIGTERM calls are still taken while /readyz says 503, so that a balancer sends them elsewhere first",
  },
  GW_STRANGER_ROWS_PER_MINUTE: {
    schema: integer(1, 1_000_000),
    default: "600",
    meaning:
      "calls without a valid credential that have an audit row each, for each address (IPv6: each /64) and minute; the rest " +
      "are answered 429 and told by one row",
  },
  GW_BASELINE_CALLS: {
    schema: integer(1, 1_000_000),
    default: "1000",
    meaning: "calls an AI System has to make before what is normal for it is frozen by itself",
  },
  GW_BASELINE_DAYS: { schema: integer(0, 365), default: "7", meaning: "days it has to be seen for before that" },
  GW_MAX_BODY_MB: { schema: integer(1, 1024), default: "32", meaning: "largest request body of a model call" },
  GW_UPSTREAM_TIMEOUT_SECONDS: {
    schema: integer(1, 86_400),
    default: "600",
    meaning: "longest silence of an upstream: until its first byte, and between two pieces of a stream",
  },
  GW_JUDGE_MODEL: {
    schema: z.string().min(1).max(200),
    meaning: "name of the model that judges semantic policies where neither the policy nor its tenant names one",
  },
  GW_ALLOW_PRIVATE_UPSTREAMS: {
    schema: onOff,
    meaning: "whether upstream addresses may be private or loopback; on by default when GW_HOST is loopback",
  },
  GW_MCP_STATELESS_PROBE: {
    schema: onOff,
    default: "on",
    meaning: "whether tool servers are asked for the stateless dialect first when they are discovered",
  },
  GW_ALLOWED_ORIGINS: {
    schema: origins,
    default: "",
    meaning:
      "comma list of web origins, such as https://app.example, whose pages may call the text surfaces, the portal API and " +
      "tool servers",
  },
  GW_MCP_ALLOWED_ORIGINS: {
    schema: origins,
    default: "",
    meaning: "comma list of further web origins whose pages may call tool servers alone; the gateway's own may",
  },
  GW_MCP_APP_DOMAINS: {
    schema: appDomains,
    default: "",
    meaning:
      "comma list of hosts, such as https://cdn.example or https://*.example, that the interfaces of tools may reach from the " +
      "portal when they ask for them. Without it they reach none",
  },
  GW_SMTP_URL: {
    schema: smtpUrl,
    secret: true,
    meaning: "mail server for welcome mails, smtp[s]://user:pass@host:port; together with GW_SMTP_FROM. Without it no mail is sent",
  },
  GW_SMTP_FROM: { schema: mailFrom, meaning: "who those mails are from, such as Gatehouse <gateway@mail.example>" },
  GW_LOG_LEVEL: { schema: z.enum(["debug", "info", "warn", "error"]), default: "info", meaning: "least important level that is logged" },
} as const satisfies Record<string, Variable>;

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
  variable: "GW_AUDIT_CHECKPOINT_URL" | "GW_BLOB_URL",
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
    mail: mailServer === undefined || mailSender === undefined ? null : { server: mailServer, from: mailSender },
    loopback: LOOPBACK.has(host),
    logLevel: read(env, "GW_LOG_LEVEL") as Configuration["logLevel"],
  };
}
