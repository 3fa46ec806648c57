import type { Capability } from "../../wire/mcp/capability.ts";
import type { Envelope } from "../../wire/mcp/dialect.ts";
import type { RpcMessage } from "../../wire/mcp/rpc.ts";

/** One request to a tool server, read: whichever dialect it came in. */
export interface ToolRequest {
  readonly target: { readonly kind: "server" | "virtual"; readonly id: string };
  /** Behind the server's own path, with its query; null at the endpoint itself. */
  readonly subPath: string | null;
  /** Null where the body is no message: reading, ending a session, or a sub-path's own business. */
  readonly message: RpcMessage | null;
  readonly body: Uint8Array | null;
  /** Null of the handshake dialect. */
  readonly envelope: Envelope | null;
  readonly capability: Capability | null;
  /** The caller's `Mcp-Param-*` headers as they may be sent on, by their names in lower case; what the dialect does not have is none. */
  readonly paramHeaders: Record<string, string>;
  /** The one-time token of an approval, where it stood among the arguments: it is in no record. */
  readonly approvalToken?: string;
}
