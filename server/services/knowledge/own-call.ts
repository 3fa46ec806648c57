import type { GroupScope } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Call } from "../../road/call.ts";
import { openCall } from "../../road/record/open.ts";

/**
 * What stands above embeddings that no caller waits for: whose policy and budgets hold for them. It is on no record: an
 * upload is told by the admin log, and each call of a model that it leads to has its row.
 */
export function ownCall(scope: GroupScope, correlation: string, clock: Clock): Call {
  const call = openCall(
    { method: "POST", url: "http://gateway/knowledge", headers: new Headers() },
    "",
    { proxyType: "llm", proxySubtype: "knowledge_embedding" },
    clock,
  );
  call.tenant = scope.tenant;
  call.scope = scope;
  call.row.tenant_id = scope.tenant.id;
  call.row.resource_group_id = scope.groupId;
  call.row.correlation_id = correlation;
  return call;
}
