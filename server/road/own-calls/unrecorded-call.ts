import type { GroupScope } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Call } from "../call.ts";
import { openCall } from "../record/open.ts";

/**
 * A parent for the gateway's own calls that no caller waits for, such as embeddings of an upload: it carries the policy and budgets that
 * apply to them. It has no row itself, but each model call made under it has one.
 */
export function unrecordedCall(
  scope: GroupScope,
  { path, proxySubtype, correlation }: { readonly path: string; readonly proxySubtype: string; readonly correlation: string },
  clock: Clock,
): Call {
  const arrival = { method: "POST", url: `http://gateway${path}`, headers: new Headers() };
  const call = openCall(arrival, "", { proxyType: "llm", proxySubtype }, clock);
  call.tenant = scope.tenant;
  call.scope = scope;
  call.row.tenant_id = scope.tenant.id;
  call.row.resource_group_id = scope.groupId;
  call.row.correlation_id = correlation;
  return call;
}
