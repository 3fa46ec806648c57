import { Panel, Facts, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { PRODUCT } from "../product.ts";

export function HomePage(): ReactNode {
  const me = useQuery({ queryKey: ["me"], queryFn: () => adminApi.call("GET /v1/admin-users/me") });
  return (
    <PageFrame product={PRODUCT} title="Home" lead="What this gateway governs, and what needs a look.">
      {me.isPending && <Skeleton label="Loading" />}
      {me.isError && (
        <ErrorState
          error={me.error}
          title="This could not be read"
          requestLabel="Request"
          retry={{ label: "Try again", run: () => void me.refetch() }}
        />
      )}
      {me.isSuccess && (
        <Panel title="Signed in">
          <Facts
            items={[
              ["Name", me.data.username],
              ["Role", me.data.role],
              ["Tenant", me.data.tenant_id ?? "all of them"],
            ]}
          />
        </Panel>
      )}
    </PageFrame>
  );
}
