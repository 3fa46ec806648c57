import { ProcessMessages } from "../../directory/tools/process-messages.ts";
import { SessionState } from "../../directory/tools/session-state.ts";
import type { Job } from "../../kernel/scheduling/job.ts";
import type { Refusal } from "../../kernel/errors.ts";
import { type Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { RequestView } from "../../road/view.ts";
import { type AppResourceDispatch, appResourceDispatch } from "./app-resource.ts";
import { clearAuthorization } from "./authorization/authorization-cache.ts";
import { withChallenge } from "./authorization/with-challenge.ts";
import { type OAuthDispatch, oauthDispatch } from "./authorization/oauth-dispatch.ts";
import { cancelMarked } from "./forwarding/cancellation.ts";
import { LastingStreams } from "../../road/send/lasting-streams.ts";
import { changesVerdict } from "./changes/changes-verdict.ts";
import { endAllSessions, endIdleSessions, endSession, endSessionsOf } from "./sessions/end-sessions.ts";
import { toolAuthorization } from "./tool-authorization.ts";
import { noteRouteOfRefused } from "./note-route.ts";
import { toolDispatch } from "./tool-dispatch.ts";
import { toolServerState } from "./definitions/tool-server-state.ts";
import type { ToolServiceParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";
import type { ToolServiceOptions } from "./tool-service-options.ts";
import { recordedCredentials } from "./forwarding/upstream-credentials.ts";

/** The tool service as used by surfaces. */
export interface ToolService {
  call(call: Call, request: ToolRequest, view: RequestView): Promise<Answer | Refusal>;
  /** Records on the row of a call that its controls refused which server and which definition of a tool it was for. */
  noteRefused(call: Call): void;
  readonly oauth: OAuthDispatch;
  readonly appResource: AppResourceDispatch;
  /** Adds to a refusal for lack of a valid credential where a client can get one. */
  challenged(refusal: Refusal, call: Call): Promise<Refusal>;
}

const LISTENERS_CHECKED_MS = 1_000;
const IDLE_SESSIONS_ENDED_MS = 600_000;

/** Opens the tool service, which runs until `close`. */
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
  const authorization = toolAuthorization(options);
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
  const listeners = new LastingStreams(gates, changesVerdict);
  const tools: ToolService = {
    async call(call, request, view) {
      const answer = await dispatch(call, request, view);
      if ("kind" in answer && answer.kind === "stream" && view.target.kind === "tool" && view.target.listens) listeners.follow(call, view);
      return answer;
    },
    noteRefused: (call) => noteRouteOfRefused(call, parts),
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
    /** Drops cached tokens and metadata that a change affects; without arguments, all cached tokens. */
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
