import { useSession } from "@gatehouse/web-kit/session.ts";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminSession } from "./admin-client.ts";
import { TENANTS } from "./records/organization-kinds.ts";
import { choicesQuery } from "./records/records-client.ts";
import { useTenant } from "./tenant.ts";

/** Whether somebody who sees several tenants has chosen none of them. */
export function useChoseNoTenant(): boolean {
  const session = useSession(adminSession);
  const mayChoose = session.state === "in" && session.user["role"] === "system_admin";
  const enabled = useTenant() === undefined && mayChoose;
  const tenants = useQuery({ ...choicesQuery(TENANTS), enabled });
  return enabled && tenants.isSuccess && tenants.data.total > 1;
}

/** On pages that show what every tenant has where none is chosen, unlike those that show what the usual one has. */
export function OfAllTenants(): ReactNode {
  if (!useChoseNoTenant()) return null;
  return <p className="text-sm text-muted">Of all tenants: none is chosen.</p>;
}
