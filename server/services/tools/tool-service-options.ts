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
  /** For requests outside calls: discovery, ending sessions, token issuers. Calls reach their servers through the outlet. */
  readonly send: ToolServerSend;
  readonly log: Log;
  readonly ownServer: ToolServiceParts["ownServer"];
  readonly origins: OriginRules;
  /** Public base URL of the runtime plane; null: use the request's own origin. */
  readonly publicUrl: string | null;
  /** Origins at which the gateway itself listens. */
  readonly gatewayOrigins: readonly string[];
  readonly allowPrivate: boolean;
  readonly statelessProbe: boolean;
  /** Resolves when preceding writes to the directory are in force in this process. */
  readonly caughtUp: () => Promise<void>;
}
