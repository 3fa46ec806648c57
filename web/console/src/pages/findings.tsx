import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SearchCheck } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { PRODUCT } from "../product.ts";
import { OneFinding } from "../systems/finding-panel.tsx";

const STATUSES = [
  { value: "open", label: "Open" },
  { value: "closed", label: "Closed" },
] as const;

/** Findings of all AI Systems, newest first. The filters are in the URL. */
export function FindingsPage(): ReactNode {
  const { status: requestedStatus } = useSearch({ strict: false }) as { readonly status?: string };
  const status = requestedStatus === "closed" ? "closed" : "open";
  const go = useNavigate();
  const found = useInfiniteQuery({
    queryKey: ["ai-system", "every", "findings", status],
    queryFn: ({ pageParam: page }) => adminApi.call("GET /v1/admin/drift", { query: { status, page, page_size: 50 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const findings = found.data?.pages.flatMap((page) => page.findings) ?? [];
  return (
    <PageFrame product={PRODUCT} title="Findings" lead="Where AI Systems depart from their contract or from what is normal for them.">
      <div className="grid gap-4">
        <div className="max-w-60">
          <SelectField
            label="Status"
            value={status}
            choices={STATUSES}
            onChange={({ target }) =>
              void go({ to: "/findings", search: (target.value === "open" ? {} : { status: target.value }) as never, replace: true })
            }
          />
        </div>
        {found.isPending && <Skeleton label="Loading" lines={4} />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The findings could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && findings.length === 0 && (
          <EmptyState icon={SearchCheck} title={status === "open" ? "No open findings" : "No closed findings"}>
            Findings appear once an AI System has a contract or enough calls to know what is normal.
          </EmptyState>
        )}
        {findings.length > 0 && (
          <>
            <p className="text-sm text-muted" role="status">
              {formatNumber(found.data?.pages[0]?.total ?? 0)} {status}
            </p>
            <Panel>
              <ul className="grid gap-5">
                {findings.map((finding) => (
                  <OneFinding key={finding.id} finding={finding} namesSystem />
                ))}
              </ul>
            </Panel>
          </>
        )}
        <MoreButton list={found} label="More findings" />
      </div>
    </PageFrame>
  );
}
