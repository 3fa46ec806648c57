import { formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

/** What a tenant has, and its usage in the last 30 days. */
export function TenantNumbers({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["records", "tenants", "stats", id],
    queryFn: () => adminApi.call("GET /v1/admin/tenants/{id}/stats", { path: { id } }),
  });
  return (
    <Panel title="At a glance">
      {found.isPending && <Skeleton label="Loading" lines={3} />}
      {found.isError && <ErrorState error={found.error} title="The numbers could not be read" requestLabel="Request" />}
      {found.isSuccess && (
        <Facts
          items={[
            ["People", formatNumber(found.data.end_users)],
            ["Administrators", formatNumber(found.data.admin_users)],
            ["Resource groups", formatNumber(found.data.resource_groups)],
            ["Providers", formatNumber(found.data.providers)],
            ["Models", formatNumber(found.data.models)],
            [
              "API keys",
              `${formatNumber(found.data.api_keys.active)} active, ${formatNumber(found.data.api_keys.revoked)} revoked, ${formatNumber(found.data.api_keys.expired)} expired`,
            ],
            [
              "Model calls, last 30 days",
              `${formatNumber(found.data.last_30_days.requests)}, ${formatNumber(found.data.last_30_days.errors)} of them failed`,
            ],
            [
              "Tokens, last 30 days",
              `${formatNumber(found.data.last_30_days.prompt_tokens)} in, ${formatNumber(found.data.last_30_days.completion_tokens)} out`,
            ],
            [
              "Cost, last 30 days",
              `${formatUsd(found.data.last_30_days.cost_usd)}${
                found.data.last_30_days.unpriced_requests === 0
                  ? ""
                  : `, without ${formatNumber(found.data.last_30_days.unpriced_requests)} calls that have no price`
              }`,
            ],
          ]}
        />
      )}
    </Panel>
  );
}
