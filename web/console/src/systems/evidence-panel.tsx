import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { askRecords, documentQuery } from "../records/records-client.ts";

type Document = AdminApiSchemas["Evidence"];
const ATTACH = "/v1/admin/ai-systems/{id}/evidence";
const DETACH = "DELETE /v1/admin/ai-systems/{id}/evidence/{eid}";

/** Assessments, reports and other evidence about the system, each with the digest of its content. */
export function EvidencePanel({ id }: { readonly id: string }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "evidence"],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/evidence", { path: { id }, query: { page, page_size: 50 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const attached = found.data?.pages.flatMap((page) => page.evidence) ?? [];
  return (
    <Panel title="Evidence">
      <div className="grid gap-4">
        {found.isPending && <Skeleton label="Loading" lines={2} />}
        <FormError error={found.error} />
        {found.isSuccess && attached.length === 0 && (
          <p className="text-muted">None yet. Attach assessments and reports about this system; certificates cite them.</p>
        )}
        <ul className="grid gap-3">
          {attached.map((one) => (
            <Attached key={one.id} systemId={id} evidence={one} />
          ))}
        </ul>
        <MoreButton list={found} label="More evidence" />
        <Allowed operation={`POST ${ATTACH}`}>
          <AttachForm id={id} />
        </Allowed>
      </div>
    </Panel>
  );
}

function Attached({ systemId, evidence }: { readonly systemId: string; readonly evidence: Document }): ReactNode {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { title, uri, kind, assessor, validity, sha256 } = evidence;
  const name = title ?? uri;
  const detach = useMutation({
    mutationFn: () => adminApi.call(DETACH, { path: { id: systemId, eid: evidence.id } }),
    async onSuccess() {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: ["ai-system", systemId] });
      showToast(`${name} is detached.`);
    },
  });
  const until = validity.until === null ? null : `good until ${formatDate(validity.until)}`;
  return (
    <li className="grid gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <Badge>{kind.replaceAll("_", " ")}</Badge>
        {/^https?:/i.test(uri) ? (
          <a href={uri} target="_blank" rel="noopener noreferrer nofollow" className="break-all text-accent underline">
            {name}
          </a>
        ) : (
          <span className="break-all">{name}</span>
        )}
        <Allowed operation={DETACH}>
          <Button aria-label={`Detach ${name}`} onClick={() => setAsking(true)}>
            Detach
          </Button>
        </Allowed>
      </div>
      <p className="text-sm break-all text-muted">{[assessor, until, `SHA-256 ${sha256}`].filter((part) => part !== null).join(", ")}</p>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Detach this evidence?"
        description="Reports captured earlier keep it. Later reports will not cite it."
        closeLabel="Cancel"
        confirmLabel="Detach"
        busy={detach.isPending}
        onConfirm={() => detach.mutate()}
      >
        <FormError error={detach.error} />
      </ConfirmDialog>
    </li>
  );
}

function AttachForm({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const api = useQuery(documentQuery);
  const [attachedBefore, setAttachedBefore] = useState(0);
  const attach = useMutation({
    mutationFn: (value: Readonly<Record<string, unknown>>) => askRecords("POST", ATTACH.replace("{id}", encodeURIComponent(id)), value),
    async onSuccess() {
      setAttachedBefore((before) => before + 1);
      await queries.invalidateQueries({ queryKey: ["ai-system", id] });
      showToast("Attached.");
    },
  });
  const schema = api.isSuccess ? bodySchema(api.data, "POST", ATTACH) : null;
  if (!api.isSuccess || schema === null) return null;
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-sm font-medium">Attach evidence</summary>
      <div className="mt-4">
        <RecordForm
          key={attachedBefore}
          document={api.data}
          schema={schema}
          references={{}}
          initial={{}}
          first={["kind", "title", "uri", "sha256", "assessor", "validity"]}
          submitLabel="Attach"
          busy={attach.isPending}
          error={attach.error}
          onSubmit={(value) => attach.mutate(value)}
          asksToLeave
        />
      </div>
    </details>
  );
}
