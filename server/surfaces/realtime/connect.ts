import { ERRORS, isRefusal, refuse } from "../../kernel/errors.ts";
import type { MessageSocket } from "../../kernel/http/message-socket.ts";
import type { Call } from "../../road/call.ts";
import { modelOf } from "../../road/target.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { RealtimeConnection } from "./realtime-connection.ts";

/** A connection to a model that waits for its client's socket. */
export interface OpenedConnection {
  readonly connection: RealtimeConnection;
  readonly modelId: string;
  readonly mayHear: boolean;
  readonly tenantId: string;
}

interface ConnectParts {
  readonly models: Dispatch;
  /** Whether the tenant may open another session in this process. */
  readonly hasRoom: (tenantId: string) => boolean;
  /** Whether nothing inspects what the caller says. */
  readonly mayHear: (call: Call) => boolean;
  readonly opened: (callId: string, opened: OpenedConnection) => void;
}

const NO_UPGRADE = "This endpoint is a WebSocket: the request has to ask for an upgrade.";

/** GET /realtime: decides whether the caller may talk to the model, and connects to it, before the client's connection is upgraded. */
export function realtimeConnect({ models, hasRoom, mayHear, opened }: ConnectParts): Surface {
  return {
    ...llmRefusals,
    refusal(refusal, call) {
      return { ...llmRefusals.refusal(refusal, call), status: ERRORS[refusal.code].status };
    },
    read(call) {
      if (call.headers.get("upgrade")?.toLowerCase() !== "websocket") return refuse("invalid_header", NO_UPGRADE);
      const query = new URL(call.url).searchParams;
      const [name = "", ...more] = query.getAll("model");
      if (name === "" || more.length > 0) return invalidRequest([{ field: "model", message: "has to be named once, in the query" }]);
      for (const field of ["call_id", "intent"])
        if (query.has(field)) return refuse("unsupported_parameter", undefined, { fields: [{ field, message: "is not served" }] });
      if (call.tenant !== null && !hasRoom(call.tenant.id))
        return refuse("too_many_sessions", undefined, { headers: { "retry-after": "10" } });
      return {
        view: { ...EMPTY_VIEW, target: { kind: "model", name, id: null, modes: ["realtime"] } },
        answer: (asking) => connected(asking, { models, mayHear, opened }),
      };
    },
  };
}

async function connected(call: Call, { models, mayHear, opened }: Omit<ConnectParts, "hasRoom">) {
  const connection = new RealtimeConnection();
  let isConnected = false;
  const answer = await models.connect(call, {
    listener: connection,
    connected(socket: MessageSocket) {
      isConnected = true;
      connection.opened(socket);
    },
  });
  const model = modelOf(call);
  if (isRefusal(answer) || !isConnected || model === null || call.tenant === null) {
    connection.close();
    return answer;
  }
  opened(call.id, { connection, modelId: model.id, mayHear: mayHear(call), tenantId: call.tenant.id });
  return answer;
}
