import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, FileText, Trash2, Upload } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { PortalApiSchemas } from "../api/portal-api-schemas.generated.ts";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";
import { UploadForm } from "../upload-form.tsx";

type StoredFile = PortalApiSchemas["File"];

const FILES = "/v1/proxy/files";
const PAGE_SIZE = 50;
const KIB = 1024;

/** The kind to store a file as. The gateway determines the actual type from its bytes. */
function kindOf({ type }: File): StoredFile["kind"] {
  const [family] = type.split("/");
  if (family === "image" || family === "audio" || family === "video") return family;
  return type === "application/pdf" || family === "text" ? "document" : "other";
}

async function store(file: File): Promise<void> {
  const form = new FormData();
  form.set("kind", kindOf(file));
  form.set("display_name", file.name);
  form.set("file", file);
  await portalApi.send(FILES, { method: "POST", body: form });
}

/** Downloads the file instead of displaying it: stored files may contain anything. */
async function save({ id, display_name: name }: StoredFile): Promise<void> {
  const response = await portalApi.send(`${FILES}/${encodeURIComponent(id)}/content`);
  saveFile(await response.blob(), name ?? id);
}

function sizeText(bytes: number): string {
  if (bytes < KIB) return `${formatNumber(bytes)} B`;
  return bytes < KIB * KIB
    ? `${formatNumber(Math.round(bytes / KIB))} KiB`
    : `${formatNumber(Math.round((bytes / KIB / KIB) * 10) / 10)} MiB`;
}

export function FilesPage(): ReactNode {
  const t = usePortalTexts();
  const found = useInfiniteQuery({
    queryKey: ["files"],
    async queryFn({ pageParam }) {
      const response = await portalApi.send(`${FILES}?page=${pageParam}&page_size=${PAGE_SIZE}`);
      return (await response.json()) as PortalApiSchemas["FilePage"];
    },
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page * last.page_size < last.total ? last.page + 1 : undefined),
  });
  const files = found.data?.pages.flatMap((page) => page.files) ?? [];
  return (
    <PageFrame product={t("product")} title={t("navFiles")} lead={t("filesLead")} width="reading">
      <div className="grid gap-4">
        <UploadForm label={t("chooseFile")} action={t("storeFile")} icon={Upload} upload={store} queryKey="files" done={t("fileStored")} />
        {found.isPending && <Skeleton label={t("loading")} />}
        {found.isError && <ErrorState error={found.error} title={t("unreadable")} requestLabel={t("request")} />}
        {found.isSuccess && files.length === 0 && (
          <EmptyState icon={FileText} title={t("noFilesTitle")}>
            {t("noFiles")}
          </EmptyState>
        )}
        <ul className="grid gap-3">
          {files.map((file) => (
            <li key={file.id}>
              <OneFile file={file} />
            </li>
          ))}
        </ul>
        <MoreButton list={found} label={t("more")} />
      </div>
    </PageFrame>
  );
}

function OneFile({ file }: { readonly file: StoredFile }): ReactNode {
  const t = usePortalTexts();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const name = file.display_name ?? file.id;
  const saved = useMutation({ mutationFn: () => save(file) });
  const removed = useMutation({
    mutationFn: () => portalApi.send(`${FILES}/${encodeURIComponent(file.id)}`, { method: "DELETE" }),
    async onSuccess() {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: ["files"] });
      showToast(t("fileDeleted"));
    },
  });
  return (
    <Panel>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="min-w-0">
          <p className="font-medium break-all">{name}</p>
          <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
            <Badge>{file.mime_type}</Badge>
            <span>{sizeText(file.size_bytes)}</span>
            <time dateTime={file.created_at}>{formatDate(file.created_at)}</time>
            {file.expires_at !== null && <span>{t("fileUntil", { when: formatDate(file.expires_at) })}</span>}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          <Button icon={Download} busy={saved.isPending} onClick={() => saved.mutate()} aria-label={t("saveNamed", { name })}>
            {t("saveFile")}
          </Button>
          <Button icon={Trash2} onClick={() => setAsking(true)} aria-label={t("deleteNamed", { name })}>
            {t("deleteFile")}
          </Button>
        </div>
      </div>
      <FormError error={saved.error} />
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t("deleteFileTitle")}
        description={t("deleteNamed", { name })}
        closeLabel={t("cancel")}
        confirmLabel={t("deleteFile")}
        busy={removed.isPending}
        onConfirm={() => removed.mutate()}
      >
        <FormError error={removed.error} />
      </ConfirmDialog>
    </Panel>
  );
}
