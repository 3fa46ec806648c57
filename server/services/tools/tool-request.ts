import type { Capability } from "../../wire/mcp/capability.ts";
import type { Envelope } from "../../wire/mcp/dialect.ts";
import type { RpcMessage } from "../../wire/mcp/rpc.ts";

/** A parsed request to a tool server, in either dialect. */
export interface ToolRequest {
  readonly target: { readonly kind: "server" | "virtual"; readonly id: string };
  /** The path below the server's endpoint, with its query; null at the endpoint itself. */
  readonly subPath: string | null;
  /** Null if the body is not a message: opening a stream, ending a session, or a request below the endpoint. */
  readonly message: RpcMessage | null;
  readonly body: Uint8Array | null;
  /** Null for the handshake dialect. */
  readonly envelope: Envelope | null;
  readonly capability: Capability | null;
  /** The caller's `Mcp-Param-*` headers to forward, by lower-case name; empty in the handshake dialect. */
  readonly paramHeaders: Record<string, string>;
  /** The one-time approval token, if it was among the arguments. It is never recorded. */
  readonly approvalToken?: string;
}
