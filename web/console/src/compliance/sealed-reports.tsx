import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { type ReportedFramework, TITLES } from "./read-report.ts";

interface Opened {
  readonly id: string;
  readonly framework: ReportedFramework;
}

async function take(id: string): Promise<void> {
  const answer = await adminApi.send(`/v1/admin/compliance/reports/${id}/export`);
  saveFile(await answer.blob(), `compliance-report-${id}.json`);
}

/** Sealed reports, each a document that others can verify without the gateway. */
export function SealedReports({
  framework,
  onOpen,
}: {
  readonly framework: ReportedFramework;
  readonly onOpen: (report: Opened) => void;
}): ReactNode {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: ["compliance", "sealed"],
    queryFn: ({ pageParam: page }) => adminApi.call("GET /v1/admin/compliance/reports", { query: { page, page_size: 50 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const reports = found.data?.pages.flatMap((page) => page.reports) ?? [];
  const seal = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/compliance/reports", { body: { framework } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["compliance", "sealed"] });
      showToast("Report sealed.");
    },
  });
  const download = useMutation({ mutationFn: take });
  return (
    <Panel
      title="Sealed reports"
      actions={
        <Allowed operation="POST /v1/admin/compliance/reports">
          <Button busy={seal.isPending} onClick={() => seal.mutate()}>
            Seal the last 30 days of {TITLES[framework]}
          </Button>
        </Allowed>
      }
    >
      <div className="grid gap-3">
        <FormError error={seal.error ?? download.error ?? found.error} />
        {found.isSuccess && reports.length === 0 && (
          <p className="text-muted">
            A sealed report stays as it is, whatever changes later, and verifies with the gateway&apos;s public key and nothing else.
          </p>
        )}
        {reports.length > 0 && (
          <ul className="grid gap-2">
            {reports.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-2">
                <strong>{TITLES[one.framework]}</strong>
                <span className="text-sm text-muted">
                  {one.window.from.slice(0, 10)} to {one.window.to.slice(0, 10)}, sealed {formatRelative(one.created_at)} by{" "}
                  {one.sealed_by ?? "the gateway"}
                </span>
                <Button onClick={() => onOpen(one)}>Open</Button>
                <Button busy={download.isPending && download.variables === one.id} onClick={() => download.mutate(one.id)}>
                  Download
                </Button>
              </li>
            ))}
          </ul>
        )}
        <MoreButton list={found} label="Show earlier reports" />
      </div>
    </Panel>
  );
}
