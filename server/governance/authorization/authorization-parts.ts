import type { CredentialCache } from "../../directory/credential-cache.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { ToolServerSend } from "../../upstreams/tool-servers/send.ts";
import type { AuthorizationMemory } from "./authorization-memory.ts";
import type { ConnectedDiscovery } from "./discover-connected.ts";

/** What upstream authorization works with. */
export interface AuthorizationParts extends Pick<Directory, "db" | "secrets" | "clock"> {
  readonly send: ToolServerSend;
  readonly credentials: CredentialCache;
  readonly snapshots: Snapshots;
  /** Where callers and browsers reach the runtime plane, without a closing slash; null: where the request came in. */
  readonly publicUrl: string | null;
  /** Whether addresses of this machine and network may be asked, and without TLS. */
  readonly allowPrivate: boolean;
  readonly memory: AuthorizationMemory;
  readonly discovery: ConnectedDiscovery;
}

/** Where this gateway is for whoever sent the request, without a closing slash. */
export function baseUrl({ publicUrl }: Pick<AuthorizationParts, "publicUrl">, request: Request): string {
  return publicUrl ?? new URL(request.url).origin;
}
