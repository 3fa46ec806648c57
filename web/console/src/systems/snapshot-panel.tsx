import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { RevokeCertificate } from "./revoke-certificate.tsx";

/** Snapshots of the report, each as a certificate that others can verify without the gateway. */
export function SnapshotPanel({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "snapshots"],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/assurance/history", { path: { id }, query: { page, page_size: 20 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const snapshots = found.data?.pages.flatMap((page) => page.snapshots) ?? [];
  const capture = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/ai-systems/{id}/assurance", { path: { id }, body: {} }),
    async onSuccess({ result }) {
      await queries.invalidateQueries({ queryKey: ["ai-system", id, "snapshots"] });
      showToast(`Captured: ${result.toLowerCase()}.`);
    },
  });
  const take = useMutation({
    async mutationFn(rid: string) {
      const response = await adminApi.send(`/v1/admin/ai-systems/${id}/assurance/history/${rid}/export`, { method: "GET" });
      saveFile(await response.blob(), `certificate-${rid}.json`);
    },
  });
  return (
    <Panel
      title="Certificates"
      actions={
        <Allowed operation="POST /v1/admin/ai-systems/{id}/assurance">
          <Button busy={capture.isPending} onClick={() => capture.mutate()}>
            Capture report
          </Button>
        </Allowed>
      }
    >
      <div className="grid gap-3">
        <FormError error={capture.error ?? take.error ?? found.error} />
        {found.isSuccess && snapshots.length === 0 && (
          <p className="text-muted">Capture a report to issue a certificate. Anyone can verify it with the gateway&apos;s public key.</p>
        )}
        {snapshots.length > 0 && (
          <ul className="grid gap-2">
            {snapshots.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-2">
                <Badge tone={one.result === "PASSED" ? "good" : "bad"}>{one.result.toLowerCase()}</Badge>
                {one.revoked_at !== null && <Badge tone="bad">revoked</Badge>}
                <span className="text-sm text-muted">
                  {formatRelative(one.created_at)} by {one.captured_by ?? "the gateway"}, good until {one.valid_until.slice(0, 10)}
                </span>
                {one.revoked_at === null && (
                  <>
                    <Button busy={take.isPending && take.variables === one.id} onClick={() => take.mutate(one.id)}>
                      Download
                    </Button>
                    <RevokeCertificate systemId={id} certificate={one} />
                  </>
                )}
                {one.revoke_reason !== null && (
                  <span className="text-sm text-muted wrap-anywhere">
                    Revoked by {one.revoked_by ?? "the gateway"}: {one.revoke_reason}
                  </span>
                )}
              </li>
            ))}
          </ul>
        )}
        <MoreButton list={found} label="Show earlier certificates" />
      </div>
    </Panel>
  );
}
