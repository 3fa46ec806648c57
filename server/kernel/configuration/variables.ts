import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { origins } from "./allowed-origins.ts";
import { appDomains } from "./app-domains.ts";
import { bucketEndpoint, bucketPlace } from "./bucket-settings.ts";
import { collectorHeaders, collectorUrl } from "./collector-settings.ts";
import { mailFrom, smtpUrl } from "./mail-settings.ts";
import { trustedProxies } from "../http/trusted-proxies.ts";
import { isAddress, isWebAddress } from "../http/web-address.ts";

/**
 * Every environment variable the gateway reads. docs/reference/configuration.md is generated from this table; a name that starts with GW_
 * and is not listed here stops the start.
 */

const integer = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  const isWithin = (text: string) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max;
  return z.string().refine(isWithin, rule).transform(Number);
};
const onOff = z.enum(["on", "off"]).transform((value) => value === "on");
const text = z.string().min(1);
/** IPv6 addresses may be in brackets, as in a URL. */
const host = text.transform((value) => value.replace(/^\[(.*:.*)\]$/, "$1"));
/** Used exactly as given, because others share it; blanks do not count towards its strength. */
const jwtSecret = z
  .string()
  .refine(
    (value) => value.trim().replaceAll(/\s+/g, " ").length >= 32,
    "must be at least 32 characters, not counting blanks around it or in a row",
  );

/** Trimmed, because keys are pasted or read from files that end with a line break, and no key has blanks around it. */
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

/** As long as logins allow, without the line break at the end of a file. */
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

/** What the Valkey client accepts: an address with one of these schemes, or a bare host. */
const VALKEY_SCHEME = /^(?:(?:redis|valkey)s?|redis\+tls|(?:redis|valkey|redis\+tls)\+unix):\/\//;
const valkeyUrl = z
  .string()
  .refine(
    (value) => (value.includes("://") ? VALKEY_SCHEME.test(value) && isAddress(value) : isAddress(`redis://${value}`)),
    "must be an address such as redis://valkey.example:6379",
  );

/** What the driver reads as a server address; it takes anything else for a database name on a default host. */
const databaseUrl = z
  .string()
  .regex(/^(?:postgres(?:ql)?:\/\/|socket:|\/)/, "must be an address such as postgres://user:password@postgres.example:5432/gatehouse")
  .refine(
    (value) => !/^postgres(?:ql)?:\/\/(?:[^/?]*@)?[^/?@]*,[^/?@]*(?:[/?]|$)|[?&]host=[^&]*(?:,|%2C)/i.test(value),
    "must name one server: where several stand behind each other, an address that leads to the one that takes writes, such as that of a proxy or " +
      "a virtual one",
  );

export interface Variable {
  readonly schema: z.ZodType;
  readonly default?: string;
  readonly meaning: string;
  readonly secret?: true;
}

export const VARIABLES = {
  GW_HOST: { schema: host, default: "127.0.0.1", meaning: "address both planes bind to" },
  GW_RUNTIME_PORT: { schema: integer(0, 65535), default: "8080", meaning: "port of the runtime plane; 0 picks a free one" },
  GW_ADMIN_PORT: { schema: integer(0, 65535), default: "8081", meaning: "port of the control plane; 0 picks a free one" },
  GW_PUBLIC_URL: {
    schema: publicUrl,
    meaning:
      "address of the runtime plane as clients and browsers use it, such as https://gateway.example; without it, the host of " +
      "each request",
  },
  GW_ADMIN_PUBLIC_URL: {
    schema: publicUrl,
    meaning:
      "address of the control plane as browsers and directories use it, for sign-in by identity providers and the addresses of provisioned records; without it, the host of each request",
  },
  GW_TRUSTED_PROXIES: {
    schema: trustedProxies,
    default: "",
    meaning:
      "comma list of addresses and ranges (IPv4 and IPv6, such as 10.0.0.0/8) of the proxies in front of both planes: X-Forwarded-For is trusted " +
      "from these addresses only",
  },
  GW_ROLES: { schema: roles, default: ROLES.join(","), meaning: "roles of this process; a fleet may separate them" },
  GW_PROCESSES: {
    schema: integer(1, 64),
    meaning: "processes that serve calls behind the runtime plane's port; default: one for every two cores, at most eight",
  },
  GW_DATA_DIR: { schema: text, default: "./data", meaning: "embedded database, audit journal and generated secrets (mode 0700)" },
  DATABASE_URL: {
    schema: databaseUrl,
    secret: true,
    meaning:
      "PostgreSQL 15 or newer, by one address that leads to the writable server; without it an embedded PostgreSQL runs under GW_DATA_DIR",
  },
  VALKEY_URL: {
    schema: valkeyUrl,
    secret: true,
    meaning:
      "Valkey or Redis 7 or newer, for limit counters and failed sign-ins that the machines of a fleet count together; without it each " +
      "machine counts for itself",
  },
  GW_LIMITS_WHEN_COUNTERS_AWAY: {
    schema: z.enum(["closed", "open"]),
    default: "closed",
    meaning:
      "open or closed: whether calls that are only under rate limits pass while the shared counters are unreachable; quotas and hard budgets always refuse then",
  },
  GW_SECRET_KEY: {
    schema: base64Of32Bytes,
    secret: true,
    meaning:
      "32 bytes, base64: encrypts stored upstream secrets, and derives the HMAC keys and the signing key of admin tokens; default: generated into GW_DATA_DIR",
  },
  GW_SECRET_KEY_NEXT: {
    schema: base64Of32Bytes,
    secret: true,
    meaning:
      "the key that will replace GW_SECRET_KEY: what other processes encrypt or sign with it is accepted, while every process still uses GW_SECRET_KEY",
  },
  GW_SECRET_KEY_PREVIOUS: {
    schema: base64Of32Bytes,
    secret: true,
    meaning:
      "the key that GW_SECRET_KEY replaced: opens what is not encrypted again yet (gatehouse rotate-secret-key), and verifies what was signed with it",
  },
  GW_JWT_SECRET: {
    schema: jwtSecret,
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
    meaning: "strict: the last byte of an answer waits until its audit row is on stable storage; relaxed: it does not wait",
  },
  GW_AUDIT_JOURNAL_MAX_MB: {
    schema: integer(16, 1_048_576),
    default: "4096",
    meaning:
      "disk space for all audit journals of a gateway while the database is away, shared equally by its processes; beyond it calls are refused",
  },
  GW_AUDIT_SHIP_WAIT_MS: {
    schema: integer(1, 10_000),
    default: "200",
    meaning:
      "how long audit rows, already safe in the journal, are batched before they go to the database, in milliseconds; less " +
      "shows them sooner, more saves database load",
  },
  GW_AUDIT_CHECKPOINT_FILE: {
    schema: text,
    meaning: "file to which every signed checkpoint is appended as well, best where the database's administrator cannot write",
  },
  GW_AUDIT_CHECKPOINT_URL: {
    schema: bucketPlace,
    meaning:
      "s3://bucket/prefix in an S3-compatible store: every signed checkpoint is also stored there as an object; with the AWS_ " +
      "variables below",
  },
  GW_BLOB_URL: {
    schema: bucketPlace,
    meaning:
      "s3://bucket/prefix: where the bytes of callers' files are stored, with the AWS_ variables below; without it a directory " +
      "under GW_DATA_DIR, which works for one machine only",
  },
  GW_KNOWLEDGE_DIR: {
    schema: text,
    meaning:
      "folder that contains one folder per tenant, named by its id, in which knowledge base connectors may read directories " +
      "and Git repositories; without it they may read none",
  },
  GW_KNOWLEDGE_URL: {
    schema: bucketPlace,
    meaning:
      "s3://bucket/prefix in an S3-compatible store, with the AWS_ variables below: contains one folder per tenant, named by " +
      "its id, in which knowledge base connectors may read; without it they may read no bucket",
  },
  GW_KNOWLEDGE_MEMORY_MB: {
    schema: integer(0, 65_536),
    default: "256",
    meaning:
      "memory for searching passages of knowledge bases, in MiB, in each process that serves calls; knowledge bases that do " +
      "not fit are searched in the database, which takes longer; 0: all are searched there",
  },
  AWS_ACCESS_KEY_ID: {
    schema: key,
    meaning: "access key of that store; needed with GW_AUDIT_CHECKPOINT_URL, GW_BLOB_URL and GW_KNOWLEDGE_URL",
  },
  AWS_SECRET_ACCESS_KEY: {
    schema: key,
    secret: true,
    meaning: "its secret; needed with GW_AUDIT_CHECKPOINT_URL, GW_BLOB_URL and GW_KNOWLEDGE_URL",
  },
  AWS_SESSION_TOKEN: { schema: key, secret: true, meaning: "session token of temporary keys" },
  AWS_REGION: {
    schema: z.string().regex(/^[a-z0-9-]{1,40}$/, "must be a region such as eu-central-1"),
    default: "us-east-1",
    meaning: "region of the bucket",
  },
  AWS_ENDPOINT_URL_S3: {
    schema: bucketEndpoint,
    meaning: "address of the store, such as https://minio.example:9000; default: AWS in the region",
  },
  GW_BOOTSTRAP_ADMIN_PASSWORD: {
    schema: firstPassword,
    secret: true,
    meaning: "password of the first system admin `admin`; generated and printed once",
  },
  GW_QUICKSTART: { schema: onOff, default: "on", meaning: "off: the first start creates no group, key, user or models" },
  GW_DRAIN_SECONDS: {
    schema: integer(0, 3600),
    default: "30",
    meaning: "how many seconds calls in flight may take to finish after SIGTERM",
  },
  GW_DRAIN_NOTICE_SECONDS: {
    schema: integer(0, 3600),
    default: "2",
    meaning:
      "how many seconds after SIGTERM calls are still accepted while /readyz says 503, so that load balancers can redirect them first",
  },
  GW_STRANGER_ROWS_PER_MINUTE: {
    schema: integer(1, 1_000_000),
    default: "600",
    meaning:
      "calls without a valid credential that get an audit row of their own, per address (IPv6: per /64) and minute; the rest " +
      "are answered 429 and summarized in one row",
  },
  GW_BASELINE_CALLS: {
    schema: integer(1, 1_000_000),
    default: "1000",
    meaning: "calls an AI System has to make before its baseline is frozen automatically",
  },
  GW_BASELINE_DAYS: { schema: integer(0, 365), default: "7", meaning: "days it has to be observed before that" },
  GW_MAX_BODY_MB: { schema: integer(1, 1024), default: "32", meaning: "largest request body of a model call" },
  GW_UPSTREAM_TIMEOUT_SECONDS: {
    schema: integer(1, 86_400),
    default: "600",
    meaning:
      "longest silence of an upstream, in seconds: until its first byte, and between two pieces of a stream; keep-alives in a model's stream are silence",
  },
  GW_JUDGE_MODEL: {
    schema: z.string().min(1).max(200),
    meaning: "name of the model that judges semantic policies if neither the policy nor its tenant names one",
  },
  GW_ALLOW_PRIVATE_UPSTREAMS: {
    schema: onOff,
    meaning: "whether upstream addresses may be private or loopback; on by default when GW_HOST is loopback",
  },
  GW_PROXY_REFUSES_PRIVATE: {
    schema: onOff,
    default: "off",
    meaning:
      "whether the proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names refuses private addresses itself. The names of upstreams are then " +
      "resolved and checked by it alone, so the gateway needs no DNS for them",
  },
  GW_MCP_STATELESS_PROBE: { schema: onOff, default: "on", meaning: "whether discovery asks tool servers for the stateless dialect first" },
  GW_ALLOWED_ORIGINS: {
    schema: origins,
    default: "",
    meaning: "comma list of web origins, such as https://app.example, whose pages may call the text APIs, the portal API and tool servers",
  },
  GW_MCP_ALLOWED_ORIGINS: {
    schema: origins,
    default: "",
    meaning: "comma list of further web origins whose pages may call tool servers only; the gateway's own origin always may",
  },
  GW_MCP_APP_DOMAINS: {
    schema: appDomains,
    default: "",
    meaning:
      "comma list of hosts, such as https://cdn.example or https://*.example, that tool interfaces (MCP Apps) in the portal may reach when they " +
      "ask for them. Without it they reach none",
  },
  GW_SMTP_URL: {
    schema: smtpUrl,
    secret: true,
    meaning: "mail server for welcome mails, smtp[s]://user:pass@host:port; requires GW_SMTP_FROM. Without it no mail is sent",
  },
  GW_SMTP_FROM: { schema: mailFrom, meaning: "sender of those mails, such as Gatehouse <gateway@mail.example>" },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: collectorUrl,
    meaning:
      "address of an OpenTelemetry collector that takes OTLP over HTTP, such as http://collector:4318: traces and metrics of calls " +
      "are sent there, without content. Without it none are",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: collectorHeaders,
    secret: true,
    meaning: "comma list of name=value, percent-encoded: headers that the collector requires, such as api-key=...",
  },
  OTEL_SERVICE_NAME: { schema: text, default: "gatehouse", meaning: "service name of the gateway there" },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, "must be a share from 0 to 1")
      .transform(Number),
    default: "1",
    meaning: "share of traces that is sent, from 0 to 1; each trace is sent completely or not at all",
  },
  GW_LOG_LEVEL: { schema: z.enum(["debug", "info", "warn", "error"]), default: "info", meaning: "lowest level that is logged" },
} as const satisfies Record<string, Variable>;
