import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";

type KnowledgeDocument = AdminApiSchemas["KnowledgeDocument"];

const PAGE_SIZE = 100;
const POLL_INTERVAL_MS = 2_000;
const TONES = { queued: "neutral", processing: "neutral", ready: "good", failed: "bad" } as const;

/** The documents of a knowledge base with their status, and why some are not found. */
export function DocumentsPanel({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const key = ["knowledge-base", id, "documents"];
  const found = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/knowledgebases/{id}/documents", { path: { id }, query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE_SIZE < total ? page + 1 : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ documents: some }) => some.some(({ status }) => status === "queued" || status === "processing"))
        ? POLL_INTERVAL_MS
        : false,
  });
  const documents = found.data?.pages.flatMap((page) => page.documents) ?? [];
  const total = found.data?.pages[0]?.total ?? 0;
  const changed = () => queries.invalidateQueries({ queryKey: key });
  const again = useMutation({
    mutationFn: (document_id: string) =>
      adminApi.call("POST /v1/admin/knowledgebases/{id}/documents/{document_id}/reprocess", { path: { id, document_id } }),
    onSuccess: changed,
  });
  const remove = useMutation({
    mutationFn: (document_id: string) =>
      adminApi.call("DELETE /v1/admin/knowledgebases/{id}/documents/{document_id}", { path: { id, document_id } }),
    async onSuccess() {
      setLeaving(null);
      await changed();
    },
  });
  const [leaving, setLeaving] = useState<KnowledgeDocument | null>(null);
  return (
    <Panel title="Documents" actions={found.isSuccess ? <Badge tone="neutral">{formatNumber(total)}</Badge> : undefined}>
      <div className="grid gap-4">
        <Allowed operation="POST /v1/admin/knowledgebases/{id}/documents">
          <Upload id={id} onDone={changed} />
        </Allowed>
        <FormError error={again.error} />
        {found.isPending && <Skeleton label="Loading" lines={3} />}
        {found.isError && <ErrorState error={found.error} title="The documents could not be read" requestLabel="Request" />}
        {found.isSuccess && documents.length === 0 && <p className="text-muted">There is no document yet.</p>}
        {found.isSuccess && (
          <ul className="grid gap-2">
            {documents.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-2">
                <Badge tone={TONES[one.status]}>{one.status}</Badge>
                <span className="font-medium break-all">{one.name}</span>
                <span className="text-sm text-muted">
                  {formatNumber(one.chunk_count)} {one.chunk_count === 1 ? "passage" : "passages"}
                  {one.permissions === null ? "" : `, read by ${one.permissions.identities.join(", ") || "nobody"}`}
                  {one.reason === null ? "" : `: ${one.reason}`}
                </span>
                <Allowed operation="POST /v1/admin/knowledgebases/{id}/documents/{document_id}/reprocess">
                  <Button busy={again.isPending && again.variables === one.id} onClick={() => again.mutate(one.id)}>
                    Process again
                  </Button>
                </Allowed>
                <Allowed operation="DELETE /v1/admin/knowledgebases/{id}/documents/{document_id}">
                  <Button onClick={() => setLeaving(one)}>Delete</Button>
                </Allowed>
              </li>
            ))}
          </ul>
        )}
        <MoreButton list={found} label="More documents" />
      </div>
      <ConfirmDialog
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={`Delete ${leaving?.name ?? ""}?`}
        description="Calls are given nothing of it any more. It can be uploaded again."
        closeLabel="Cancel"
        confirmLabel="Delete"
        busy={remove.isPending}
        onConfirm={() => leaving !== null && remove.mutate(leaving.id)}
      >
        <FormError error={remove.error} />
      </ConfirmDialog>
    </Panel>
  );
}

function Upload({ id, onDone }: { readonly id: string; readonly onDone: () => Promise<void> }): ReactNode {
  const [file, setFile] = useState<File | null>(null);
  const upload = useMutation({
    mutationFn: (chosen: File) => {
      const form = new FormData();
      form.set("file", chosen);
      return adminApi.call("POST /v1/admin/knowledgebases/{id}/documents", { path: { id }, body: form });
    },
    async onSuccess(_answer, { name }) {
      await onDone();
      showToast(`${name} is taken. Its state says how far it is.`);
    },
  });
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (file !== null) upload.mutate(file);
      }}
    >
      <TextField label="Document" type="file" onChange={({ target }) => setFile(target.files?.[0] ?? null)} />
      <Button type="submit" busy={upload.isPending}>
        Upload
      </Button>
      <FormError error={upload.error} />
    </form>
  );
}
