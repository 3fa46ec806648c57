import type { Road } from "../../road/road.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import type { Call } from "../../road/call.ts";
import type { RealtimeConnection } from "./realtime-connection.ts";

export interface SessionTerms {
  readonly road: Pick<Road, "handle">;
  readonly models: Dispatch;
  readonly connection: RealtimeConnection;
  readonly modelId: string;
  /** Whether nothing inspects what the caller says, so that the model may hear it. */
  readonly mayHear: boolean;
  /** The same for a later call of the session. */
  readonly mayHearNow: (call: Call) => boolean;
  /** The request that opened the session, whose credential each response presents again. */
  readonly url: string;
  readonly headers: Headers;
  readonly ip: string;
  readonly ended: () => void;
}
