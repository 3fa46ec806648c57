import type { EndUserIdentity } from "../../directory/end-user-cache.ts";
import type { Call } from "../../road/call.ts";
import type { PortalServices } from "./portal-services.ts";

/** A portal request, read and validated. */
export interface PortalRequest<Query, Body> {
  readonly services: PortalServices;
  readonly call: Call;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** For an operation that takes a form: the raw body. */
  readonly bytes: Uint8Array;
  /** Where the request comes from, for throttles and the admin log. */
  readonly origin: { readonly address: string; readonly requestId: string };
  /** Throws in an operation that admits others than users. */
  readonly user: EndUserIdentity;
  /** The tenant and user, in the form the directory expects. */
  readonly who: { readonly tenantId: string; readonly userId: string };
}

export function portalRequestOf(
  services: PortalServices,
  call: Call,
  read: Pick<PortalRequest<unknown, unknown>, "params" | "query" | "body" | "bytes">,
): PortalRequest<unknown, unknown> {
  const user = (): EndUserIdentity => {
    if (call.user === null) throw new Error(`${call.path} is open to more than users`);
    return call.user;
  };
  return {
    services,
    call,
    ...read,
    origin: { address: call.ip, requestId: call.id },
    get user() {
      return user();
    },
    get who() {
      const { id, tenant_id: tenantId } = user();
      return { tenantId, userId: id };
    },
  };
}
