import type { JsonValue } from "../wire/document.ts";
import type { Capability } from "../wire/mcp/capability.ts";
import type { Dialect } from "../wire/mcp/dialect.ts";

/** What controls see of it. */
export interface ToolReference {
  readonly kind: "server" | "virtual";
  readonly serverId: string;
  /** What its caller speaks. */
  readonly dialect: Dialect;
  /** JSON-RPC method; null where there is no message. */
  readonly method: string | null;
  /** Whether a stream that answers it tells of changes, for as long as its caller likes. */
  readonly listens: boolean;
  readonly capability: Capability | null;
  readonly arguments: JsonValue | undefined;
}
