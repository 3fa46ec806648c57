import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { RpcMessage } from "./rpc.ts";

/** Handshake: protocol versions up to 2025-11-25. Stateless: 2026-07-28 and later. */
export type Dialect = "handshake" | "stateless";

export const STATELESS_VERSION = "2026-07-28";
export const HANDSHAKE_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Versions are ISO dates, so they compare as strings. */
export function isStatelessVersion(version: unknown): version is string {
  return typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) && version >= STATELESS_VERSION;
}

/** What a request in the stateless dialect states about its sender. */
export interface Envelope {
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | null;
  /** Null if the caller wants no log messages. */
  readonly logLevel: string | null;
}

/** The envelope of a request; null in the handshake dialect; a string describes what is wrong. */
export function envelopeOf(message: RpcMessage, versionHeader: string | null): Envelope | null | string {
  const meta = isObject(message.params._meta) ? message.params._meta : {};
  const version = meta[META.version];
  if (version === undefined) {
    if (message.method === "initialize" || !isStatelessVersion(versionHeader) || message.kind !== "request") return null;
    return `params._meta must have ${META.version}.`;
  }
  if (typeof version !== "string") return `${META.version} must be a text.`;
  const capabilities = meta[META.capabilities];
  if (!isObject(capabilities)) return `params._meta must have ${META.capabilities}, an object.`;
  const info = meta[META.clientInfo];
  const level = meta[META.logLevel];
  return { version, capabilities, clientInfo: isObject(info) ? info : null, logLevel: typeof level === "string" ? level : null };
}

const GONE_FROM_STATELESS = new Set(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** Whether the method exists only in the handshake dialect. */
export function isHandshakeOnly(method: string): boolean {
  return GONE_FROM_STATELESS.has(method);
}

/** Whether the method exists only in the stateless dialect. */
export function isStatelessOnly(method: string | null): boolean {
  return method === "server/discover" || method === "subscriptions/listen";
}
