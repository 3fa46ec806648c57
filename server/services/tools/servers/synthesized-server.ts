import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { type McpSender, withoutTasks } from "../../../wire/mcp/bridge.ts";
import type { RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { OpenChanges } from "../changes/listen.ts";
import type { Relay } from "../answers/relay.ts";

/**
 * A server as the gateway itself shows it, in both dialects: a virtual one, or one that speaks the other dialect than
 * its caller. What is the protocol's own business is answered here; everything else is carried to the servers behind.
 */
export interface SynthesizedServer {
  readonly id: string;
  readonly info: JsonObject & { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  /** Carries a request there, and the answer back. `session` is null of a stateless caller. */
  forward(message: RpcMessage, sender: McpSender, session: string | null): Relay;
  readonly changes: OpenChanges;
}

/** What of a server's capabilities the gateway can carry across. */
export function carriedCapabilities(capabilities: Readonly<Record<string, unknown>>): JsonObject {
  const carried: JsonObject = {};
  for (const name of ["tools", "prompts", "resources", "completions", "logging", "extensions", "experimental"]) {
    const value = capabilities[name];
    if (isObject(value)) carried[name] = name === "extensions" ? withoutTasks(value as JsonObject) : value;
  }
  return carried;
}
