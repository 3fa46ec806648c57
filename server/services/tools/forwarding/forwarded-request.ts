import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { JsonObject, JsonValue } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import type { Capability } from "../../../wire/mcp/capability.ts";
import type { Dialect } from "../../../wire/mcp/dialect.ts";
import type { RpcId } from "../../../wire/mcp/rpc.ts";

/** A caller's request to one server, translated if their dialects differ. */
export interface ForwardedRequest {
  readonly server: ToolServerEntry;
  readonly method: string;
  /** JSON text for the server, in the caller's dialect. */
  readonly params: string | null;
  readonly parsed: JsonObject;
  readonly capability: Capability | null;
  readonly id: RpcId;
  /** The dialect that the caller speaks. */
  readonly dialect: Dialect;
  readonly sender: McpSender;
  /** For a handshake-dialect caller: the session in which its responses arrive. */
  readonly session: string | null;
  /** Edits a result before it reaches the caller; null leaves it unchanged. */
  readonly edit: (result: JsonObject, text: string) => string | null | Promise<string | null>;
  /** Inspects the answer: a refusal withholds it, a string replaces the message, null passes it. */
  readonly gate: (text: string, result: JsonValue | undefined) => Promise<Refusal | string | null>;
}
