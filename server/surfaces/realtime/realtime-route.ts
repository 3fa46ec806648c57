import type { GovernedRoute } from "../../road/road-parts.ts";
import type { RealtimeSessions } from "./realtime-sessions.ts";

export interface RealtimeService {
  readonly realtime: RealtimeSessions;
}

export const REALTIME_ROUTE = {
  method: "GET",
  path: "/v1/proxy/llm/realtime",
  surface: ({ realtime }: RealtimeService) => realtime.surface,
  accept:
    ({ realtime }: RealtimeService) =>
    (route: GovernedRoute, request: Request, ip: string) =>
      realtime.accept(route, request, ip),
  audit: { proxyType: "llm", proxySubtype: "realtime_connect" },
  body: false,
} as const;
