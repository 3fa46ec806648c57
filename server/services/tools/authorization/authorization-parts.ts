import type { Directory } from "../../../directory/writes/write.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import type { AdmissionParts } from "../../../road/admission/admit.ts";
import type { AuthorizationCache } from "./authorization-cache.ts";

export interface ConnectedDiscovery {
  /**
   * Discovers a server with the first token available, because it could not be asked before. Resolves when that is done or has taken too
   * long; never rejects.
   */
  learn(tenantId: string, serverId: string, token: string): Promise<void>;
}

/** The dependencies of upstream authorization. */
export interface AuthorizationParts extends Pick<Directory, "db" | "secrets" | "clock">, AdmissionParts {
  readonly send: ToolServerSend;
  /** Public base URL of the runtime plane, without a trailing slash; null: use the request's own origin. */
  readonly publicUrl: string | null;
  /** Whether a base URL taken from a request is known to be the gateway's. */
  readonly isOwnAddress: (base: string) => boolean;
  /** Whether private addresses may be contacted, and without TLS. */
  readonly allowPrivate: boolean;
  readonly memory: AuthorizationCache;
  readonly discovery: ConnectedDiscovery;
}

/** The gateway's base URL as the caller reaches it, without a trailing slash. */
export function baseUrl({ publicUrl }: Pick<AuthorizationParts, "publicUrl">, call: { readonly url: string }): string {
  return publicUrl ?? new URL(call.url).origin;
}

/** What is needed to reach a server with its callers' own authorization. */
export type ServerAuthorizationParts = Pick<
  AuthorizationParts,
  "db" | "secrets" | "clock" | "send" | "memory" | "allowPrivate" | "publicUrl"
>;
