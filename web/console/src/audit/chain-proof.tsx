import { Button } from "@gatehouse/web-kit/button.tsx";
import { ErrorState } from "@gatehouse/web-kit/states.tsx";
import { useMutation } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import type { ListedRow } from "./listed-row.ts";
import { VerificationView } from "./verification.tsx";

/** Verifies the part of the chain around the row, and links to its neighbors. */
export function ChainProof({ row }: { readonly row: ListedRow }): ReactNode {
  const { chain_id: chain, chain_seq: seq } = row;
  const search = useSearch({ strict: false });
  const go = useNavigate();
  const verify = useMutation({
    mutationFn: () =>
      adminApi.call("POST /v1/admin/audit/chains/{chain_id}/verify", {
        path: { chain_id: chain ?? "" },
        body: { from_seq: Math.max(1, (seq ?? 1) - 100), to_seq: (seq ?? 1) + 100 },
      }),
  });
  const neighbour = useMutation({
    async mutationFn(step: number) {
      const { rows } = await adminApi.call("POST /v1/admin/proxy-logs/query", {
        body: { filters: { chain_id: chain, chain_seq: (seq ?? 0) + step }, page_size: 1 },
      });
      const id = rows[0]?.id;
      if (id == null) return false;
      await go({ to: "/audit", search: { ...search, row: id } as never });
      return true;
    },
  });
  if (chain == null || seq == null) return null;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Allowed operation="POST /v1/admin/audit/chains/{chain_id}/verify">
          <Button onClick={() => verify.mutate()} disabled={verify.isPending}>
            {verify.isPending ? "Verifying…" : "Verify this row and its neighbours"}
          </Button>
        </Allowed>
        <Button icon={ChevronLeft} onClick={() => neighbour.mutate(-1)} disabled={seq <= 1 || neighbour.isPending}>
          Previous in chain
        </Button>
        <Button icon={ChevronRight} onClick={() => neighbour.mutate(1)} disabled={neighbour.isPending}>
          Next in chain
        </Button>
      </div>
      {neighbour.data === false && (
        <p role="status" className="text-sm text-muted">
          No row stands there that you may read: the chain ends, or it is another tenant&apos;s.
        </p>
      )}
      {verify.isSuccess && <VerificationView verification={verify.data} />}
      {verify.isError && <ErrorState error={verify.error} title="The chain could not be verified" requestLabel="Request" />}
      {neighbour.isError && <ErrorState error={neighbour.error} title="The row could not be read" requestLabel="Request" />}
    </div>
  );
}
