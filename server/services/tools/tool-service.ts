import type { Directory } from "../../directory/writes/write.ts";
import { ProcessMessages } from "../../directory/tools/process-messages.ts";
import { recordDiscovery } from "../../directory/tools/mcp-servers.ts";
import { SessionState } from "../../directory/tools/session-state.ts";
import { type Actor, write } from "../../directory/writes/write.ts";
import type { Job } from "../../kernel/job.ts";
import type { Refusal } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { AdmissionParts } from "../../road/admission/admit.ts";
import { type Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import type { Outlet } from "../../road/outlet.ts";
import type { RequestView } from "../../road/view.ts";
import type { ToolServerSend } from "../../upstreams/tool-servers/send.ts";
import { diffTools } from "../../wire/mcp/tool-definitions.ts";
import { type AppResourceDispatch, appResourceDispatch } from "./app-resource.ts";
import { authorizationCache, clearAuthorization } from "./authorization/authorization-cache.ts";
import type { AuthorizationParts } from "./authorization/authorization-parts.ts";
import { withChallenge } from "./authorization/with-challenge.ts";
import { connectedDiscovery } from "./authorization/discover-connected.ts";
import { type OAuthDispatch, oauthDispatch } from "./authorization/oauth-dispatch.ts";
import { cancelMarked } from "./cancellation.ts";
import type { KnowledgeLookup } from "../../road/knowledge.ts";
import { toolServerDiscovery } from "./discovery.ts";
import { ChangeStreams } from "./change-streams.ts";
import { endAllSessions, endIdleSessions, endSession, endSessionsOf } from "./session-farewells.ts";
import { toolDispatch } from "./tool-dispatch.ts";
import type { SkillTools } from "./skills/skill-parts.ts";
import { toolServerState } from "./tool-server-state.ts";
import type { OriginRules, ToolServiceParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";
import { recordedCredentials } from "./upstream-credentials.ts";

/** What surfaces ask of tool servers. */
export interface ToolService {
  call(call: Call, request: ToolRequest, view: RequestView): Promise<Answer | Refusal>;
  readonly oauth: OAuthDispatch;
  readonly appResource: AppResourceDispatch;
  /** A caller of a tool server without a good credential is told where a client can get one. */
  challenged(refusal: Refusal, call: Call): Promise<Refusal>;
}

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
  readonly allowPrivate: boolean;
  readonly statelessProbe: boolean;
  /** Resolves when what was written to the directory is in force here. */
  readonly caughtUp: () => Promise<void>;
}

/** Whoever has no name in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const LISTENERS_CHECKED_MS = 1_000;
const IDLE_SESSIONS_ENDED_MS = 600_000;

/** The service of tool servers, running until `close`. */
export async function openTools(options: ToolServiceOptions) {
  const { gates, begin, directory, send, log, secrets, clock } = options;
  const { db } = directory;
  const memory = toolServerState((session) => void endSession(session, send));
  const kept = { send, memory };
  const sessionState = await SessionState.open({
    connection: options.connection,
    secrets,
    log,
    cancelled: (mark) => cancelMarked({ memory, secrets }, mark),
    ended: (name) => void endSessionsOf(name, kept),
  });
  const authorization = authorizationOf(options);
  const outlet = options.outletTo(send);
  const parts: ToolServiceParts = {
    db,
    secrets,
    clock,
    begin,
    outlet,
    knowledge: options.knowledge,
    skills: options.skills,
    gates,
    credentials: recordedCredentials,
    origins: options.origins,
    ownServer: options.ownServer,
    memory,
    authorization,
    processMessages: new ProcessMessages(db, secrets, log),
    sessionState,
  };
  const dispatch = toolDispatch(parts);
  const listeners = new ChangeStreams(gates);
  const tools: ToolService = {
    async call(call, request, view) {
      const answer = await dispatch(call, request);
      return "kind" in answer && answer.kind === "stream" && view.target.kind === "tool" && view.target.listens
        ? listeners.follow(call, view, answer)
        : answer;
    },
    oauth: oauthDispatch({ ...authorization, begin, origins: options.origins }),
    appResource: appResourceDispatch(parts),
    challenged: (refusal, call) => withChallenge(refusal, call, authorization),
  };
  const jobs: Job[] = [
    { name: "check_listeners", everyMs: LISTENERS_CHECKED_MS, run: () => listeners.check() },
    { name: "end_idle_tool_sessions", everyMs: IDLE_SESSIONS_ENDED_MS, run: async () => endIdleSessions(kept) },
  ];
  return {
    tools,
    jobs,
    /** What the tokens of somebody were kept for changed; without a name, those of everybody. */
    forgetTokens(tenantId?: string, ref?: Parameters<typeof clearAuthorization>[2]): void {
      if (tenantId === undefined || ref === undefined) authorization.memory.tokens.clear();
      else clearAuthorization(authorization.memory, tenantId, ref);
    },
    async close(): Promise<void> {
      await endAllSessions(kept);
      await sessionState.stop();
    },
  };
}

function authorizationOf({
  directory,
  send,
  log,
  publicUrl,
  allowPrivate,
  statelessProbe,
  caughtUp,
  ...admission
}: ToolServiceOptions): AuthorizationParts {
  const discovery = connectedDiscovery(
    directory,
    toolServerDiscovery(send, statelessProbe, allowPrivate),
    async (tenantId, serverId, url, found) => {
      await write(directory, GATEWAY, (change) => recordDiscovery(change, tenantId, serverId, url, found, diffTools));
      await caughtUp();
    },
    (tenantId, serverId, error) => log.warn("connected_discovery_failed", { tenant_id: tenantId, server_id: serverId, error }),
  );
  const { credentials, users, tokens, workloads, snapshots, secrets, clock } = admission;
  const memory = authorizationCache();
  return {
    db: directory.db,
    secrets,
    clock,
    send,
    credentials,
    users,
    tokens,
    workloads,
    snapshots,
    publicUrl,
    allowPrivate,
    memory,
    discovery,
  };
}
