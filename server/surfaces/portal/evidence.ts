import { noticeRecorded, portalNotice } from "@gatehouse/contracts/portal-answers";
import { noticeConfigQuery, noticePost } from "@gatehouse/contracts/notices";
import { effectiveNoticeConfig } from "../../directory/notices/notice-configs.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";

/** The user is needed only for rate limiting (interface 5.10). */
const evidence = { withoutCaller: true } as const;

export const evidenceRoutes: readonly PortalRoute[] = [
  portalOperation({
    ...evidence,
    method: "GET",
    path: "/v1/portal/evidence/notice-config",
    name: "notice_config",
    summary: "The AI notice to show",
    answer: { status: 200, schema: portalNotice },
    query: noticeConfigQuery,
    async run({ services, user, query }) {
      const { enabled, surface, texts, text_digests, exemption } = await effectiveNoticeConfig(
        services.directory,
        user.tenant_id,
        query.ai_system_id ?? null,
      );
      return { enabled, surface, text: texts, text_sha256: text_digests, ...(exemption === null ? {} : { exemption }) };
    },
  }),
  portalOperation({
    ...evidence,
    method: "POST",
    path: "/v1/portal/evidence/notice",
    name: "notice",
    summary: "Records that the notice was shown",
    answer: { status: 200, schema: noticeRecorded },
    body: noticePost,
    invalidBody: "invalid_notice",
    run: ({ services, call, body }) => services.notices.record(call, body),
  }),
];
