import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { JsonObject, JsonValue } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import type { Capability } from "../../../wire/mcp/capability.ts";
import type { Dialect } from "../../../wire/mcp/dialect.ts";
import type { RpcId } from "../../../wire/mcp/rpc.ts";

/** A caller's request to one server, translated where their dialects differ. */
export interface ForwardedRequest {
  readonly server: ToolServerEntry;
  readonly method: string;
  /** JSON text for the server, in the caller's dialect. */
  readonly params: string | null;
  readonly parsed: JsonObject;
  readonly capability: Capability | null;
  readonly id: RpcId;
  /** The dialect the caller speaks. */
  readonly dialect: Dialect;
  readonly sender: McpSender;
  /** Of a caller of the handshake dialect: the session its own answers arrive in. */
  readonly session: string | null;
  /** Last change of a result before the caller gets it; null leaves it. */
  readonly edit: (result: JsonObject, text: string) => string | null | Promise<string | null>;
  /** Whether the server's answer may be had by the caller; a text is the message as the caller may have it. */
  readonly gate: (text: string, result: JsonValue | undefined) => Promise<Refusal | string | null>;
}
