import { portalServers, type PortalServer } from "../../controls/access/portal-servers.ts";
import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { PortalRequest } from "./portal-request.ts";
import { scopeOf } from "./portal-scopes.ts";

export async function portalServersFor(
  request: PortalRequest<unknown, unknown>,
  groupId: string | undefined,
  inherited: boolean,
): Promise<readonly PortalServer[] | Refusal> {
  const scope = await scopeOf(request, groupId);
  if (scope === null) return [];
  return isRefusal(scope) ? scope : portalServers(scope, inherited);
}
