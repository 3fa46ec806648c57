import type { PortalApi } from "./portal-api.generated.ts";

type AnswerOf<Operation extends keyof PortalApi> = PortalApi[Operation]["answer"];

export type PickableModel = AnswerOf<"GET /v1/portal/models">["models"][number];
export type PortalToolServer = AnswerOf<"GET /v1/portal/servers">["servers"][number];
export type PortalApproval = AnswerOf<"GET /v1/portal/approvals">["approvals"][number];
export type ShownAlert = AnswerOf<"GET /v1/portal/alerts">["alerts"][number];
export type PortalNotification = AnswerOf<"GET /v1/portal/notifications">["notifications"][number];
export type OwnApiKey = AnswerOf<"GET /v1/portal/api-keys">["api_keys"][number];
export type UsedLimit = AnswerOf<"GET /v1/portal/usage">["groups"][number]["limits"][number];
export type PortalProfile = AnswerOf<"GET /v1/portal/auth/profile">;
export type NoticeSettings = AnswerOf<"GET /v1/portal/evidence/notice-config">;
