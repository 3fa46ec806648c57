import type { Directory } from "../../../directory/writes/write.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import type { AdmissionParts } from "../../../road/admission/admit.ts";
import type { AuthorizationMemory } from "./authorization-memory.ts";
import type { ConnectedDiscovery } from "./discover-connected.ts";

/** What upstream authorization works with. */
export interface AuthorizationParts extends Pick<Directory, "db" | "secrets" | "clock">, AdmissionParts {
  readonly send: ToolServerSend;
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
