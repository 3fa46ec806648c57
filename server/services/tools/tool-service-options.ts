import { type SessionState } from "../../directory/tools/session-state.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { Log } from "../../kernel/log.ts";
import type { AdmissionParts } from "../../road/admission/admit.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import type { KnowledgeLookup } from "../../road/knowledge.ts";
import type { Outlet } from "../../road/outlet.ts";
import type { ToolServerSend } from "../../upstreams/tool-servers/send.ts";
import type { SkillTools } from "./skills/skill-parts.ts";
import type { OriginRules, ToolServiceParts } from "./tool-parts.ts";

export interface ToolServiceOptions extends AdmissionParts {
  readonly gates: Gates;
  readonly outletTo: (send: ToolServerSend) => Outlet<ToolServerSend>;
  readonly begin: (call: Call) => void;
  readonly knowledge: KnowledgeLookup;
  readonly skills: SkillTools;
  readonly directory: Directory;
  readonly connection: Parameters<typeof SessionState.open>[0]["connection"];
  /** For what no call asks: discovery, the ends of sessions, issuers of tokens. A call is given its servers by the outlet. */
  readonly send: ToolServerSend;
  readonly log: Log;
  readonly ownServer: ToolServiceParts["ownServer"];
  readonly origins: OriginRules;
  /** Where callers and browsers reach the runtime plane; null: where the request came in. */
  readonly publicUrl: string | null;
  /** Where the gateway itself listens. */
  readonly gatewayOrigins: readonly string[];
  readonly allowPrivate: boolean;
  readonly statelessProbe: boolean;
  /** Resolves when what was written to the directory is in force here. */
  readonly caughtUp: () => Promise<void>;
}
