import { upgradeResponse } from "../../kernel/http/message-socket.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { governanceOf } from "../../road/policy/parameter-governance.ts";
import { modelOf } from "../../road/target.ts";
import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Road } from "../../road/road.ts";
import type { Surface } from "../../road/surface.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { type OpenedConnection, realtimeConnect } from "./connect.ts";
import { RealtimeSession } from "./realtime-session.ts";

/** Open sessions that one tenant may have in one process. */
const MAX_SESSIONS = 200;
/** Browsers cannot set headers, so their clients put the key here. */
const KEY_PROTOCOL = "openai-insecure-api-key.";
/** What OpenAI's clients offer besides; the server selects it. */
const PROTOCOL = "realtime";
const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-.*)$/i;

/** The open sessions of this process. */
export class RealtimeSessions {
  readonly surface: Surface;
  private readonly road: Pick<Road, "handle">;
  private readonly models: Dispatch;
  private readonly mayHear: (call: Call) => boolean;
  private readonly sessions = new Map<RealtimeSession, string>();
  /** Connections whose client is about to be upgraded, by the ID of the call that opened them. */
  private readonly waiting = new Map<string, OpenedConnection>();
  private isLeaving = false;

  constructor(road: Pick<Road, "handle">, models: Dispatch, gates: Pick<Gates, "inspects">) {
    this.road = road;
    this.models = models;
    this.mayHear = (call) => isUninspected(call) && !gates.inspects(call, "chat_input");
    this.surface = realtimeConnect({
      models,
      hasRoom: (tenantId) => this.openOf(tenantId) < MAX_SESSIONS,
      mayHear: this.mayHear,
      opened: (callId, opened) => void this.waiting.set(callId, opened),
    });
  }

  /** Answers a request by a session, or by the refusal to open one. */
  async accept(route: GovernedRoute, request: Request, ip: string): Promise<Response> {
    const { asked, protocol } = withoutKey(request);
    const answer = await this.road.handle(route, asked, ip);
    const callId = answer.headers.get("x-request-id") ?? "";
    const opened = this.waiting.get(callId);
    if (opened === undefined) return answer;
    this.waiting.delete(callId);
    const { connection, modelId, mayHear, tenantId } = opened;
    if (answer.status !== 200 || this.isLeaving) {
      connection.close();
      return answer;
    }
    const headers = new Headers([...asked.headers].filter(([name]) => !OF_HANDSHAKE.test(name)));
    return upgradeResponse({
      headers: { "x-request-id": callId, ...(protocol !== null && { "sec-websocket-protocol": protocol }) },
      opened: (socket) => {
        const ended = () => void this.sessions.delete(session);
        const terms = {
          road: this.road,
          models: this.models,
          connection,
          modelId,
          mayHear,
          mayHearNow: this.mayHear,
          url: asked.url,
          headers,
          ip,
          ended,
        };
        const session = new RealtimeSession(socket, terms);
        this.sessions.set(session, tenantId);
        return session;
      },
      failed: () => connection.close(),
    });
  }

  /** Ends every session after its running response. */
  leave(): void {
    this.isLeaving = true;
    for (const session of [...this.sessions.keys()]) session.leave("the gateway is stopping");
  }

  get open(): number {
    return this.sessions.size;
  }

  private openOf(tenantId: string): number {
    let open = 0;
    for (const of of this.sessions.values()) if (of === tenantId) open++;
    for (const { tenantId: of } of this.waiting.values()) if (of === tenantId) open++;
    return open;
  }
}

/** Whether no rule of the call's resource group is about the words of a request. */
function isUninspected(call: Call): boolean {
  const model = modelOf(call);
  return model !== null && governanceOf(call, model).bannedPatterns.length === 0;
}

/** The request with a key among its subprotocols where keys otherwise are, so that no header that is recorded has it. */
function withoutKey(request: Request): { readonly asked: Request; readonly protocol: string | null } {
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const key = offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  const headers = new Headers(request.headers);
  headers.delete("sec-websocket-protocol");
  if (key !== undefined && !headers.has("authorization")) headers.set("authorization", `Bearer ${key}`);
  return { asked: new Request(request.url, { headers, signal: request.signal }), protocol: offered.includes(PROTOCOL) ? PROTOCOL : null };
}
