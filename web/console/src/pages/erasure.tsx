import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { PRODUCT } from "../product.ts";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { type ApiRecord, askRecords, documentQuery } from "../records/records-client.ts";
import { OfAllTenants, OfOneTenant } from "../of-all-tenants.tsx";
import { useTenant } from "../tenant.ts";

const PATH = "/v1/admin/data-erasure";
const WORD = "erase";
const PAGE_SIZE = 100;

/** Erases a person's data from rows, runs and records. The erasure itself stays on record. */
export function ErasurePage(): ReactNode {
  return (
    <PageFrame
      product={PRODUCT}
      title="Erasure"
      lead="Removes a person's data from audit rows and related records. Chains stay verifiable, and the erasure itself is recorded."
    >
      <div className="grid gap-4">
        <OfAllTenants />
        <Allowed operation="POST /v1/admin/data-erasure">
          <OfOneTenant
            unchosen={
              <Panel title="Erase a person">
                <p>The same name in another tenant may be a different person. Choose a tenant at the top of the page first.</p>
              </Panel>
            }
          >
            <EraseForm />
          </OfOneTenant>
        </Allowed>
        <Erasures />
      </div>
    </PageFrame>
  );
}

function EraseForm(): ReactNode {
  const queries = useQueryClient();
  const api = useQuery(documentQuery);
  const [confirming, setConfirming] = useState<ApiRecord | null>(null);
  const [round, setRound] = useState(0);
  const tenant = useTenant();
  const erase = useMutation({
    mutationFn: (body: ApiRecord) => askRecords("POST", PATH, body),
    async onSuccess() {
      setConfirming(null);
      setRound((now) => now + 1);
      await queries.invalidateQueries();
      showToast("Erased. The result is listed below.");
    },
    onError: () => setConfirming(null),
  });
  if (!api.isSuccess) return <Skeleton label="Loading" lines={2} />;
  const schema = bodySchema(api.data, "POST", PATH);
  if (schema === null) return null;
  return (
    <Panel title="Erase a person">
      <RecordForm
        key={round}
        document={api.data}
        schema={schema}
        references={{}}
        initial={{}}
        submitLabel="Erase"
        busy={erase.isPending}
        error={erase.error}
        onSubmit={setConfirming}
      />
      <ConfirmDialog
        open={confirming !== null}
        onClose={() => setConfirming(null)}
        title={tenant === undefined ? "Erase this person's data?" : `Erase this person's data of the tenant ${tenant}?`}
        description="This cannot be undone. Only the fact of the erasure is kept."
        closeLabel="Cancel"
        confirmLabel="Erase"
        busy={erase.isPending}
        onConfirm={() => confirming !== null && erase.mutate(confirming)}
        typed={{ text: WORD, label: `Type ${WORD} to go on` }}
      >
        <FormError error={null} />
      </ConfirmDialog>
    </Panel>
  );
}

function Erasures(): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["erasures"],
    queryFn: ({ pageParam }) => adminApi.call("GET /v1/admin/data-erasure", { query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE_SIZE < total ? page + 1 : undefined),
  });
  if (found.isPending) return <Skeleton label="Loading" lines={3} />;
  if (found.isError) return <ErrorState error={found.error} title="The erasures could not be read" requestLabel="Request" />;
  const erasures = found.data.pages.flatMap((page) => page.erasures);
  if (erasures.length === 0) return <p className="text-muted">No erasures yet.</p>;
  return (
    <>
      {erasures.map((erasure) => (
        <Panel key={erasure.id} title={formatDate(erasure.at)} actions={erasure.account_erased ? <Badge>account erased</Badge> : undefined}>
          <Facts
            items={[
              ["Asked by", erasure.requested_by ?? "the gateway"],
              ["Reason", erasure.reason ?? "none given"],
              ["Rows erased", formatNumber(erasure.rows_erased)],
              ["Runs updated", formatNumber(erasure.runs_changed)],
              ["Approvals erased", formatNumber(erasure.approvals_erased)],
              ["Identifiers (as digests)", formatNumber(erasure.identifiers.length)],
            ]}
          />
        </Panel>
      ))}
      <MoreButton list={found} label="Earlier erasures" />
    </>
  );
}
