import { useSession } from "@gatehouse/web-kit/session.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminSession } from "./admin-client.ts";
import { TENANTS } from "./records/organization-kinds.ts";
import { choicesQuery } from "./records/records-client.ts";
import { useTenant } from "./tenant.ts";

/** The number of tenants if the administrator sees several and has chosen none; null otherwise. */
function useUnchosenTenants() {
  const session = useSession(adminSession);
  const mayChoose = session.state === "in" && session.user["role"] === "system_admin";
  const enabled = useTenant() === undefined && mayChoose;
  const tenants = useQuery({ ...choicesQuery(TENANTS), enabled });
  return enabled ? tenants : null;
}

/** Marks pages that show data of all tenants while none is chosen, unlike pages that fall back to the default tenant. */
export function OfAllTenants({ what = "Of all tenants" }: { readonly what?: string }): ReactNode {
  const several = (useUnchosenTenants()?.data?.total ?? 0) > 1;
  return several ? <p className="text-sm text-muted">{what}: none is chosen.</p> : null;
}

/** Hides actions that could hit the default tenant by accident: they appear once a tenant is chosen or is known to be the only one. */
export function OfOneTenant({ unchosen, children }: { readonly unchosen: ReactNode; readonly children: ReactNode }): ReactNode {
  const tenants = useUnchosenTenants();
  if (tenants === null) return children;
  if (tenants.data !== undefined) return tenants.data.total > 1 ? unchosen : children;
  if (!tenants.isError) return <Skeleton label="Loading" lines={2} />;
  return (
    <ErrorState
      error={tenants.error}
      title="The tenants could not be read"
      requestLabel="Request"
      retry={{ label: "Try again", run: () => void tenants.refetch() }}
    />
  );
}
