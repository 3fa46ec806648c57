import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { PrintButton } from "@gatehouse/web-kit/print-button.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ConsoleNotFound } from "../console-frame.tsx";
import { PRODUCT } from "../product.ts";
import { DocumentsPanel } from "../knowledge/documents-panel.tsx";
import { GroupOfPeoplePanels } from "../people/group-of-people.tsx";
import { PersonData } from "../people/person-data.tsx";
import { TenantNumbers } from "../organization/tenant-numbers.tsx";
import { AgentPanels } from "../agents/agent-panels.tsx";
import { ActionPanel } from "../records/action-panel.tsx";
import { useConsoleUser } from "../records/allowed.tsx";
import {
  type ApiDocument,
  type ApiSchema,
  bodySchema,
  hasOperation,
  isAllowed,
  memberLabel,
  resolvedSchema,
  takesNoText,
} from "../records/api-schema.ts";
import { PicturePanel } from "../records/picture-panel.tsx";
import { RequestSamples } from "../records/request-samples.tsx";
import { DocumentPanel, documentOperation } from "../records/document-panel.tsx";
import { GroupPanels } from "../records/group-panels.tsx";
import { LinkedIdentities } from "../sign-on/linked-identities.tsx";
import { SignOnPanels } from "../sign-on/sign-on-panels.tsx";
import { DirectoryAddress } from "../sign-on/directory-address.tsx";
import { SkillPanels } from "../skills/skill-panels.tsx";
import { ConnectedAccounts } from "../tools/connected-accounts.tsx";
import { DefinitionDriftPanel } from "../tools/definition-drift.tsx";
import { DiscoveryHistory } from "../tools/discovery-history.tsx";
import { OwnOAuthClient } from "../tools/own-oauth-client.tsx";
import { SystemPanels } from "../systems/system-panels.tsx";
import { ChangedMeanwhile } from "../records/changed-meanwhile.tsx";
import { RecordForm } from "../records/record-form.tsx";
import type { RecordKind } from "../records/record-kind.ts";
import { recordKind } from "../records/record-kinds.ts";
import { isSecret } from "../records/schema-field.tsx";
import { RecordValue } from "../records/record-value.tsx";
import { type RecordOperation, hasPermission } from "../records/refusals.ts";
import {
  type ApiRecord,
  askRecords,
  ChangedByOthers,
  changeAsRead,
  changedSince,
  documentQuery,
  shownName,
  recordQuery,
  recordsKey,
} from "../records/records-client.ts";

const IDENTITIES = "/v1/admin/identity-providers/{id}/identities";
const ACCOUNT = "/v1/admin/mcp-servers/{id}/connected-accounts/{account_id}";

export function RecordPage(): ReactNode {
  const { kind: slug, id = "" } = useParams({ strict: false });
  const kind = recordKind(slug);
  return kind === undefined ? <ConsoleNotFound /> : <OneRecord key={`${kind.slug} ${id}`} kind={kind} id={id} />;
}

function OneRecord({ kind, id }: { readonly kind: RecordKind; readonly id: string }): ReactNode {
  const api = useQuery(documentQuery);
  const read = useQuery({ ...recordQuery(kind, id), retry: false });
  const user = useConsoleUser();
  const one = `${kind.path}/{id}`;
  const refusalOf = (operation: RecordOperation) => (read.isSuccess ? (kind.refusal?.(read.data, user, operation) ?? null) : null);
  const mayDelete =
    api.isSuccess && hasOperation(api.data, "DELETE", one) && isAllowed(api.data, "DELETE", one, user) && refusalOf("delete") === null;
  return (
    <PageFrame
      product={PRODUCT}
      title={read.isSuccess ? shownName(kind, read.data) : memberLabel(kind.noun.replaceAll(" ", "_"))}
      lead={
        <Link to="/manage/$kind" params={{ kind: kind.slug }} className="text-accent underline">
          {kind.title}
        </Link>
      }
      actions={
        read.isSuccess ? (
          <>
            {kind.slug === "ai-systems" && <PrintButton label="Print as a report" />}
            {mayDelete && <DeleteButton kind={kind} record={read.data} />}
          </>
        ) : undefined
      }
    >
      {(read.isPending || api.isPending) && <Skeleton label="Loading" lines={6} />}
      {read.isError && <ErrorState error={read.error} title={`This ${kind.noun} could not be read`} requestLabel="Request" />}
      {read.isSuccess && api.isSuccess && (
        <div className="grid gap-4">
          <Editor
            key={id}
            document={api.data}
            kind={kind}
            id={id}
            record={read.data}
            refusal={isAllowed(api.data, "PATCH", one, user) ? refusalOf("change") : "Your role can view this but not change it."}
          />
          {kind.slug === "resource-groups" && <GroupPanels document={api.data} kind={kind} id={id} />}
          {kind.slug === "groups-of-people" && <GroupOfPeoplePanels id={id} />}
          {kind.slug === "tenants" && <TenantNumbers id={id} />}
          {kind.slug === "people" && <PersonData id={id} username={shownName(kind, read.data)} />}
          {(kind.slug === "people" || kind.slug === "tool-servers") && (
            <PicturePanel of={kind.slug} id={id} address={pictureOf(read.data[kind.slug === "people" ? "avatar_url" : "icon_url"])} />
          )}
          {kind.slug === "agents" && <AgentPanels id={id} />}
          {kind.slug === "skills" && <SkillPanels id={id} />}
          {kind.slug === "ai-systems" && <SystemPanels id={id} />}
          {kind.slug === "knowledge-bases" && <DocumentsPanel id={id} />}
          {kind.slug === "sign-on" && <SignOnPanels id={id} mayWrite={isAllowed(api.data, "POST", `${one}/test`, user)} />}
          {(kind.slug === "people" || kind.slug === "administrators") && isAllowed(api.data, "GET", IDENTITIES, user) && (
            <LinkedIdentities
              account={{ kind: kind.slug, id, name: shownName(kind, read.data) }}
              mayChange={isAllowed(api.data, "POST", IDENTITIES, user) && refusalOf("link") === null}
            />
          )}
          {kind.slug === "scim-tokens" && <DirectoryAddress />}
          {kind.slug === "tool-servers" && (
            <DefinitionDriftPanel id={id} mayAccept={isAllowed(api.data, "POST", `${one}/accept-definitions`, user)} />
          )}
          {kind.slug === "tool-servers" && <DiscoveryHistory id={id} />}
          {(kind.slug === "tool-servers" || kind.slug === "people") && isAllowed(api.data, "GET", `${one}/connected-accounts`, user) && (
            <ConnectedAccounts of={{ kind: kind.slug, id }} mayEnd={isAllowed(api.data, "DELETE", ACCOUNT, user)} />
          )}
          {kind.slug === "tool-servers" && read.data["auth_type"] === "oauth" && <OwnOAuthClient id={id} />}
          {kind.documents?.map((about) => (
            <DocumentPanel
              key={about.path}
              document={api.data}
              kind={kind}
              id={id}
              about={about}
              mayChange={isAllowed(api.data, about.method ?? "PATCH", documentOperation(kind, about), user)}
            />
          ))}
          {kind.actions
            ?.filter(({ path }) => isAllowed(api.data, "POST", `${one}${path}`, user))
            .filter(({ needsOneOf = [] }) => needsOneOf.length === 0 || needsOneOf.some((name) => hasPermission(user, name)))
            .map((action) => (
              <ActionPanel
                key={action.path}
                document={api.data}
                kind={kind}
                id={id}
                action={action}
                refusal={refusalOf(action.path as RecordOperation)}
              />
            ))}
          <Panel title="All fields">
            <Facts
              items={Object.entries(read.data).map(
                ([member, value]) =>
                  [factLabel(read.data, member), <RecordValue key={member} kind={kind} member={member} value={value} />] as const,
              )}
            />
          </Panel>
          <RequestSamples path={`${kind.path}/${encodeURIComponent(id)}`} />
        </div>
      )}
    </PageFrame>
  );
}

const pictureOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** If the record also has the name of the same thing, the ID's label says that it is an ID. */
function factLabel(record: ApiRecord, member: string): string {
  return memberLabel(member.endsWith("_id") && member.slice(0, -"_id".length) in record ? member.replace(/_id$/, "_ID") : member);
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === "";

/**
 * The schema of an update. Lists that reads do not return are left out: they would start empty and be saved as complete. What is only
 * written starts empty, and is saved if something is entered. Members with a value that cannot be null are required, because omitting one changes nothing.
 */
function changeSchema(document: ApiDocument, body: ApiSchema, record: ApiRecord): ApiSchema {
  const isOffered = (member: string) => member in record || isSecret(member) || `has_${member}` in record;
  const properties = Object.fromEntries(Object.entries(body.properties ?? {}).filter(([member]) => isOffered(member)));
  const required = Object.entries(properties)
    .filter(([member, given]) => {
      const { schema, nullable } = resolvedSchema(document, given);
      return !isEmpty(record[member]) && !nullable && !takesNoText(schema);
    })
    .map(([member]) => member);
  return { ...body, properties, required };
}

function Editor({
  document,
  kind,
  id,
  record,
  refusal,
}: {
  readonly document: ApiDocument;
  readonly kind: RecordKind;
  readonly id: string;
  readonly record: ApiRecord;
  readonly refusal: string | null;
}): ReactNode {
  const queries = useQueryClient();
  const user = useConsoleUser();
  const body = bodySchema(document, "PATCH", `${kind.path}/{id}`);
  // The form keeps the values it started with, even if someone else changes the record meanwhile.
  const [shown, setShown] = useState(record);
  const [isEdited, setIsEdited] = useState(false);
  const settings = Object.keys(body?.properties ?? {});
  // Compares settings only: other members, such as a group's models, change through other records.
  const isOlder = ["updated_at", ...settings].some((member) => JSON.stringify(shown[member]) !== JSON.stringify(record[member]));
  if (isOlder && !isEdited) setShown(record);
  const path = `${kind.path}/${encodeURIComponent(id)}`;
  const change = useMutation({
    mutationFn: (changes: ApiRecord) => changeAsRead(path, changes, changedSince(shown, changes)),
    onError(error) {
      if (error instanceof ChangedByOthers) queries.setQueryData(recordQuery(kind, id).queryKey, error.now);
    },
    async onSuccess(answer, changes) {
      const before = Object.fromEntries(Object.keys(changes).map((member) => [member, shown[member] ?? null]));
      setIsEdited(false);
      await queries.invalidateQueries({ queryKey: recordsKey(kind) });
      // Values that reads do not return cannot be restored.
      const canUndo = Object.keys(changes).every((member) => member in record);
      showToast(
        "Saved. Takes effect with the next call.",
        canUndo ? { label: "Undo", run: () => void undo.mutate({ saved: answer, before }) } : undefined,
      );
    },
  });
  const undo = useMutation({
    mutationFn: ({ saved, before }: { readonly saved: ApiRecord; readonly before: ApiRecord }) =>
      changeAsRead(path, before, changedSince(saved, before)),
    onSuccess: () => queries.invalidateQueries({ queryKey: recordsKey(kind) }),
    onError: (error) => showToast(`Undo failed: ${error.message}`),
  });
  const showNow = () => {
    change.reset();
    setIsEdited(false);
  };
  if (body === null) return null;
  if (refusal !== null) return <p className="text-muted">{refusal}</p>;
  const { properties = {}, ...rest } = changeSchema(document, body, shown);
  const offered = Object.entries(properties).filter(([member]) => kind.choiceRefusal?.(member, null, user, shown) !== true);
  const schema = { ...rest, properties: Object.fromEntries(offered) };
  const initial = Object.fromEntries(
    Object.keys(schema.properties ?? {}).flatMap((member) => (member in shown ? [[member, shown[member]]] : [])),
  );
  return (
    <Panel title="Settings">
      {isOlder && isEdited && (
        <ChangedMeanwhile onShow={showNow}>
          Someone else has changed this record. Saving changes only the fields you edited.
        </ChangedMeanwhile>
      )}
      <RecordForm
        key={JSON.stringify([shown["updated_at"], initial])}
        document={document}
        schema={schema}
        references={kind.references ?? {}}
        initial={initial}
        first={kind.first}
        onlyWith={kind.onlyWith ?? {}}
        isRefused={(member, choice) => kind.choiceRefusal?.(member, choice, user, shown) === true}
        record={shown}
        submitLabel="Save"
        busy={change.isPending}
        error={change.error}
        onSubmit={(changes) => change.mutate(changes)}
        changesOnly
        asksToLeave
        onEdited={setIsEdited}
      />
    </Panel>
  );
}

function DeleteButton({ kind, record }: { readonly kind: RecordKind; readonly record: ApiRecord }): ReactNode {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const go = useNavigate();
  const name = shownName(kind, record);
  const remove = useMutation({
    mutationFn: () => askRecords("DELETE", `${kind.path}/${encodeURIComponent(String(record["id"]))}`),
    async onSuccess() {
      queries.removeQueries({ queryKey: [...recordsKey(kind), "one", String(record["id"])] });
      await go({ to: "/manage/$kind", params: { kind: kind.slug } });
      await queries.invalidateQueries({ queryKey: recordsKey(kind) });
      showToast(`${name} was deleted.`);
    },
  });
  return (
    <>
      <Button icon={Trash2} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete this ${kind.noun}?`}
        description="This cannot be undone. Audit rows of past calls stay."
        closeLabel="Cancel"
        confirmLabel="Delete"
        onConfirm={() => remove.mutate()}
        busy={remove.isPending}
        typed={{ text: name, label: `Type ${name} to delete it` }}
      >
        <FormError error={remove.error} />
      </ConfirmDialog>
    </>
  );
}
