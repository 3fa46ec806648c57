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

/** What calls to tool servers work with. */
export interface ToolParts extends Pick<Directory, "db" | "secrets" | "clock"> {
  readonly send: Passage<ToolServerSend>["upstream"];
  /** The begin marker: written before the call leaves. Throws when calls can no longer be recorded. */
  readonly begin: (call: Call) => void;
  readonly credentials: UpstreamCredentials;
  readonly origins: OriginRules;
  readonly memory: ToolServerState;
  /** For servers that are reached in their callers' names. */
  readonly authorization: ServerAuthorizationParts;
  readonly processMessages: ProcessMessages;
  readonly sessionState: SessionState;
  /** For what is asked in mid-flight. */
  readonly gates: Gates;
}

/** The same before a call is let out: with the way out to tool servers instead of the servers themselves. */
export interface ToolServiceParts extends Omit<ToolParts, "send"> {
  readonly outlet: Outlet<ToolServerSend>;
  readonly knowledge: KnowledgeLookup;
  readonly skills: SkillTools;
  /** Servers that the gateway itself is; null for a request to another. */
  readonly ownServer: (call: Call, request: ToolServerRequest) => ReturnType<ToolParts["send"]> | null;
}

export interface OriginRules {
  readonly allowed: ReadonlySet<string>;
  /** Whether the gateway is bound to this machine only: then a page that got here by a rebound name is told by its Host. */
  readonly loopback: boolean;
}
