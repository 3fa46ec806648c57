import type { Road } from "../../road/road.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import type { RealtimeConnection } from "./realtime-connection.ts";

export interface SessionTerms {
  readonly road: Pick<Road, "handle">;
  readonly models: Dispatch;
  readonly connection: RealtimeConnection;
  readonly modelId: string;
  /** The request that opened the session, whose credential each response presents again. */
  readonly url: string;
  readonly headers: Headers;
  readonly ip: string;
  readonly ended: () => void;
}
