import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { type McpSender, withoutTasks } from "../../../wire/mcp/bridge.ts";
import { errorText, type RpcId, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { OpenChanges } from "../changes/listen.ts";
import type { Relay } from "../answers/relay.ts";

/**
 * A server presented by the gateway in both dialects: a virtual server, or one whose dialect differs from its caller's. Protocol
 * housekeeping is answered here; everything else is forwarded to the servers behind.
 */
export interface SynthesizedServer {
  readonly id: string;
  readonly info: JsonObject & { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  /** Forwards a request and yields the messages of its answer. `session`: null for a stateless caller. */
  forward(message: RpcMessage, sender: McpSender, session: string | null): Relay;
  readonly changes: OpenChanges;
}

/** The server capabilities that the gateway can bridge. */
export function carriedCapabilities(capabilities: Readonly<Record<string, unknown>>): JsonObject {
  const carried: JsonObject = {};
  for (const name of ["tools", "prompts", "resources", "completions", "logging", "extensions", "experimental"]) {
    const value = capabilities[name];
    if (isObject(value)) carried[name] = name === "extensions" ? withoutTasks(value as JsonObject) : value;
  }
  return carried;
}

/** JSON-RPC errors in the handshake dialect are sent with status 200, because 404 would end the session. */
export function methodNotServed(id: RpcId | null): string {
  return errorText(id, { code: -32601, message: "This method is not served here." });
}
