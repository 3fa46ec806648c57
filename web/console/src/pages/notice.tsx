import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";
import { PRODUCT } from "../product.ts";
import { type ApiDocument, type ApiSchema, bodySchema } from "../records/api-schema.ts";
import { ChangedMeanwhile } from "../records/changed-meanwhile.tsx";
import { RecordForm } from "../records/record-form.tsx";
import { recordKind } from "../records/record-kinds.ts";
import { ReferenceField } from "../records/reference-field.tsx";
import { type ApiRecord, askRecords, documentQuery } from "../records/records-client.ts";

const PATH = "/v1/admin/notice-config";
const SOURCES = { default: "the gateway's own", tenant: "of this tenant", system: "of one AI system" } as const;
const SURFACES = { banner: "a banner", inline: "the conversation", both: "a banner and the conversation" } as const;
const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });

type Notice = AdminApiSchemas["NoticeConfig"];

/** An AI System's ID; null for the tenant. */
type SystemId = string | null;

const queryOf = (system: SystemId) => (system === null ? {} : { ai_system_id: system });
const readNotice = (system: SystemId) => adminApi.call("GET /v1/admin/notice-config", { query: queryOf(system) });
const noticeKey = (system: SystemId) => ["notice", system] as const;

/** The form's initial values, set for the tenant or the system itself. A save replaces the whole notice, so nothing may be missing. */
function settingsOf({ source, enabled, surface, texts, exemption }: Notice, system: SystemId): ApiRecord {
  if (source !== (system === null ? "tenant" : "system")) return {};
  return { enabled, surface, texts, ...(exemption === null ? {} : { exemption }) };
}

/** The form's schema without the system, which is chosen outside the form. */
function formSchema(document: ApiDocument): ApiSchema | null {
  const body = bodySchema(document, "PUT", PATH);
  if (body === null) return null;
  const { ai_system_id: _, ...properties } = body.properties ?? {};
  return { ...body, properties };
}

/** The notice people see before they talk to an AI, and the evidence that they saw it. */
export function NoticePage(): ReactNode {
  const { id } = useParams({ strict: false });
  const system: SystemId = id ?? null;
  const go = useNavigate();
  const api = useQuery(documentQuery);
  const read = useQuery({ queryKey: noticeKey(system), queryFn: () => readNotice(system) });
  const groups = recordKind("resource-groups");
  const schema = api.isSuccess ? formSchema(api.data) : null;
  return (
    <PageFrame
      product={PRODUCT}
      title="AI notice"
      lead="What the portal shows before the first question of a conversation. Each is sealed as shown, with the digest of its text."
    >
      <div className="grid gap-4">
        {groups !== undefined && (
          <div className="sm:max-w-96">
            <ReferenceField
              kind={groups}
              label="AI System"
              hint="Empty: the tenant, for all of its systems that have no notice of their own."
              value={system}
              onChange={(next) => void (next === null ? go({ to: "/notice" }) : go({ to: "/notice/$id", params: { id: next } }))}
            />
          </div>
        )}
        {(api.isPending || read.isPending) && <Skeleton label="Loading" />}
        {read.isError && <ErrorState error={read.error} title="The notice could not be read" requestLabel="Request" />}
        {read.isSuccess && api.isSuccess && schema !== null && (
          <>
            <ShownNow notice={read.data} />
            <Allowed operation="PUT /v1/admin/notice-config">
              <NoticeEditor key={system} document={api.data} schema={schema} system={system} notice={read.data} />
            </Allowed>
            {Object.keys(settingsOf(read.data, system)).length > 0 && (
              <Allowed operation="DELETE /v1/admin/notice-config">
                <ResetButton key={system} system={system} />
              </Allowed>
            )}
          </>
        )}
      </div>
    </PageFrame>
  );
}

function ShownNow({ notice }: { readonly notice: Notice }): ReactNode {
  return (
    <Panel title="Shown now" actions={<Badge tone={notice.enabled ? "good" : "warn"}>{notice.enabled ? "shown" : "not shown"}</Badge>}>
      <Facts
        items={[
          ["Source", SOURCES[notice.source]],
          ["Shown in", SURFACES[notice.surface]],
          ...(notice.updated_at === null ? [] : [["Changed", formatRelative(notice.updated_at)] as const]),
          ...Object.entries(notice.texts).map(
            ([language, text]) =>
              [
                LANGUAGES.of(language) ?? language,
                <span key={language} lang={language}>
                  {text}
                </span>,
              ] as const,
          ),
        ]}
      />
    </Panel>
  );
}

function NoticeEditor({
  document,
  schema,
  system,
  notice,
}: {
  readonly document: ApiDocument;
  readonly schema: ApiSchema;
  readonly system: SystemId;
  readonly notice: Notice;
}): ReactNode {
  const queries = useQueryClient();
  // The form keeps the values it started with, even if someone else changes the notice meanwhile.
  const [begun, setBegun] = useState(notice);
  const [isEdited, setIsEdited] = useState(false);
  const isSame = (one: Notice, other: Notice) => JSON.stringify(settingsOf(one, system)) === JSON.stringify(settingsOf(other, system));
  const isOlder = !isSame(begun, notice);
  if (isOlder && !isEdited) setBegun(notice);
  const change = useMutation({
    async mutationFn(body: ApiRecord) {
      const now = await readNotice(system);
      if (!isSame(now, begun)) {
        queries.setQueryData(noticeKey(system), now);
        throw new Error("Somebody else has changed this meanwhile. Nothing was saved.");
      }
      return askRecords("PUT", PATH, { ...body, ...queryOf(system) });
    },
    async onSuccess() {
      setIsEdited(false);
      await queries.invalidateQueries({ queryKey: ["notice"] });
      showToast("Saved. The next conversation shows it.");
    },
  });
  const showNow = () => {
    change.reset();
    setIsEdited(false);
  };
  return (
    <Panel title="Change it">
      {isOlder && isEdited && (
        <ChangedMeanwhile onShow={showNow}>Someone else has changed this. Your edits cannot be saved over theirs.</ChangedMeanwhile>
      )}
      <RecordForm
        key={JSON.stringify(settingsOf(begun, system))}
        document={document}
        schema={schema}
        references={{}}
        initial={settingsOf(begun, system)}
        submitLabel="Save"
        busy={change.isPending}
        error={change.error}
        onSubmit={(body) => change.mutate(body)}
        asksToLeave
        onEdited={setIsEdited}
      />
    </Panel>
  );
}

/** Removes this level's own notice, so that the inherited one applies again. */
function ResetButton({ system }: { readonly system: SystemId }): ReactNode {
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [label, done] =
    system === null
      ? ["Show the gateway's own again", "The gateway's own notice is shown again."]
      : ["Show what holds without it", "Its own notice is gone. What holds without it is shown."];
  const reset = useMutation({
    mutationFn: () => adminApi.call("DELETE /v1/admin/notice-config", { query: queryOf(system) }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["notice"] });
      showToast(done);
    },
  });
  return (
    <div>
      <FormError error={reset.error} />
      <Button busy={reset.isPending} onClick={() => setAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`${label}?`}
        description="The texts that were written here are gone then, and an exemption that was declared is, too."
        closeLabel="Keep them"
        confirmLabel={label}
        onConfirm={() => {
          setAsking(false);
          reset.mutate();
        }}
      />
    </div>
  );
}
