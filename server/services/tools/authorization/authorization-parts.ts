import type { Directory } from "../../../directory/writes/write.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import type { AdmissionParts } from "../../../road/admission/admit.ts";
import type { AuthorizationCache } from "./authorization-cache.ts";

export interface ConnectedDiscovery {
  /**
   * Learns what a server is and offers from the first who can show it a token: before, nobody could ask it. Resolves
   * when that is known or has taken too long; never rejects.
   */
  learn(tenantId: string, serverId: string, token: string): Promise<void>;
}

/** The dependencies of upstream authorization. */
export interface AuthorizationParts extends Pick<Directory, "db" | "secrets" | "clock">, AdmissionParts {
  readonly send: ToolServerSend;
  /** Where callers and browsers reach the runtime plane, without a closing slash; null: where the request came in. */
  readonly publicUrl: string | null;
  /** Whether that, as a request names it, is known to be the gateway's. */
  readonly isOwnAddress: (base: string) => boolean;
  /** Whether addresses of this machine and network may be asked, and without TLS. */
  readonly allowPrivate: boolean;
  readonly memory: AuthorizationCache;
  readonly discovery: ConnectedDiscovery;
}

/** The gateway's base URL as the caller reaches it, without a trailing slash. */
export function baseUrl({ publicUrl }: Pick<AuthorizationParts, "publicUrl">, call: { readonly url: string }): string {
  return publicUrl ?? new URL(call.url).origin;
}

/** What is needed to reach a server in its callers' names. */
export type ServerAuthorizationParts = Pick<
  AuthorizationParts,
  "db" | "secrets" | "clock" | "send" | "memory" | "allowPrivate" | "publicUrl"
>;
