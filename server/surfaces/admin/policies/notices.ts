import { noticeConfig, noticeConfigPut, noticeConfigQuery, noticeStatement, noticeStatementQuery } from "@gatehouse/contracts/notices";
import {
  deleteNoticeConfig,
  effectiveNoticeConfig,
  readNoticeStatement as statementOf,
  setNoticeConfig,
} from "../../../directory/notices/notice-configs.ts";
import { operation, type AdminOperation } from "../operation.ts";

const PATH = "/v1/admin/notice-config";
const reading = { tag: "AI notice", access: "compliance:read", reach: "one" } as const;
const writing = { tag: "AI notice", access: "compliance:write", reach: "one" } as const;

export const noticeOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "Read the AI notice in force",
    description: "The configuration of the given AI System, otherwise of the tenant, otherwise the built-in one.",
    query: noticeConfigQuery,
    answer: { status: 200, about: "The configuration in force", schema: noticeConfig },
    run: (call) => effectiveNoticeConfig(call.services.directory, call.tenantId, call.query.ai_system_id ?? null),
  }),
  operation({
    ...writing,
    method: "PUT",
    path: PATH,
    summary: "Set the AI notice",
    description:
      "Of the tenant, or of one AI system. Each save is sealed in the admin log's chain, an exemption as a declaration of " +
      "its own. Showing no notice needs an exemption that is asserted.",
    body: noticeConfigPut,
    answer: { status: 200, about: "The configuration as it is now", schema: noticeConfig },
    run: (call) => call.write((write) => setNoticeConfig(write, call.tenantId, call.body)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: PATH,
    summary: "Remove a configuration of the AI notice",
    description: "Sealed, like a save. The configuration beneath it is in force again.",
    query: noticeConfigQuery,
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => deleteNoticeConfig(write, call.tenantId, call.query.ai_system_id ?? null)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/statement`,
    summary: "How many conversations had the notice before their first answer",
    description: "The statement notice.before_first_turn over the conversations that had their first assistant turn in the window.",
    query: noticeStatementQuery,
    answer: { status: 200, about: "n of m", schema: noticeStatement },
    run: (call) =>
      statementOf(call.services.directory, call.tenantId, {
        from: call.query.from ?? null,
        to: call.query.to ?? null,
        systemId: call.query.ai_system_id ?? null,
      }),
  }),
];
