import type { ProcessMessages } from "../../directory/tools/process-messages.ts";
import type { SessionState } from "../../directory/tools/session-state.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { ToolServerRequest, ToolServerSend } from "../../upstreams/tool-servers/send.ts";
import type { ServerAuthorizationParts } from "./authorization/authorization-parts.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import type { Outlet, Passage } from "../../road/outlet.ts";
import type { KnowledgeLookup } from "../../road/knowledge.ts";
import type { SkillTools } from "./skills/skill-parts.ts";
import type { ToolServerState } from "./definitions/tool-server-state.ts";
import type { UpstreamCredentials } from "./forwarding/upstream-credentials.ts";

/** The dependencies of calls to tool servers. */
export interface ToolParts extends Pick<Directory, "db" | "secrets" | "clock"> {
  readonly send: Passage<ToolServerSend>["upstream"];
  /** Writes the begin marker, before the call is sent to an upstream. Throws when calls can no longer be recorded. */
  readonly begin: (call: Call) => void;
  readonly credentials: UpstreamCredentials;
  readonly origins: OriginRules;
  readonly memory: ToolServerState;
  /** For servers that are called with their callers' own authorization. */
  readonly authorization: ServerAuthorizationParts;
  readonly processMessages: ProcessMessages;
  readonly sessionState: SessionState;
  /** For checks in the middle of a call. */
  readonly gates: Gates;
}

/** The dependencies before a call has passed the gates: an outlet instead of the servers themselves. */
export interface ToolServiceParts extends Omit<ToolParts, "send"> {
  readonly outlet: Outlet<ToolServerSend>;
  readonly knowledge: KnowledgeLookup;
  readonly skills: SkillTools;
  /** Handles requests to servers that are part of the gateway; null for any other. */
  readonly ownServer: (call: Call, request: ToolServerRequest) => ReturnType<ToolParts["send"]> | null;
}

export interface OriginRules {
  readonly allowed: ReadonlySet<string>;
  /** Whether the gateway is bound to loopback only; then the Host header is checked against DNS rebinding. */
  readonly loopback: boolean;
}
