import type { GroupScope } from "../directory/snapshot.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Call } from "./call.ts";
import { openCall } from "./record/open.ts";

/**
 * What stands above calls of the gateway's own that no caller waits for, such as embeddings of an upload: whose policy and budgets hold
 * for them. It is on no record itself, for each call of a model that it leads to has its row.
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
