import { useSession } from "@gatehouse/web-kit/session.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminSession } from "./admin-client.ts";
import { TENANTS } from "./records/organization-kinds.ts";
import { choicesQuery } from "./records/records-client.ts";
import { useTenant } from "./tenant.ts";

/** How many tenants there are, for somebody who sees several and has chosen none; null for anybody else. */
function useUnchosenTenants() {
  const session = useSession(adminSession);
  const mayChoose = session.state === "in" && session.user["role"] === "system_admin";
  const enabled = useTenant() === undefined && mayChoose;
  const tenants = useQuery({ ...choicesQuery(TENANTS), enabled });
  return enabled ? tenants : null;
}

/** On pages that show what every tenant has where none is chosen, unlike those that show what the usual one has. */
export function OfAllTenants({ what = "Of all tenants" }: { readonly what?: string }): ReactNode {
  const several = (useUnchosenTenants()?.data?.total ?? 0) > 1;
  return several ? <p className="text-sm text-muted">{what}: none is chosen.</p> : null;
}

/** What must not reach the usual tenant unmeant: not there before it is known that there is no other, or one is chosen. */
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
