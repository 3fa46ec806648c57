import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { ReferenceLink } from "../records/reference-link.tsx";
import { RestorePanel } from "./restore-panel.tsx";

const REFRESH_MS = 5_000;

const PAGE_SIZE = 100;

const read = (id: string, page: number) =>
  adminApi.call("GET /v1/admin/ai-systems/{id}/drift", { path: { id }, query: { status: "open", page, page_size: PAGE_SIZE } });
type Finding = Awaited<ReturnType<typeof read>>["findings"][number];

const TONES = { info: "neutral", low: "neutral", medium: "warn", high: "bad", critical: "bad" } as const;

const RESOLUTIONS = [
  { value: "fixed", label: "fixed" },
  { value: "accepted", label: "accepted in a new contract" },
  { value: "baselined", label: "new baseline" },
  { value: "expected_change", label: "expected change" },
  { value: "risk_accepted", label: "risk accepted" },
  { value: "false_positive", label: "false positive" },
] as const;
type Resolution = (typeof RESOLUTIONS)[number]["value"];

/** Open findings, with the row that triggered each and the responses to it. */
export function FindingPanel({ id }: { readonly id: string }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "drift"],
    queryFn: ({ pageParam }) => read(id, pageParam),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE_SIZE < total ? page + 1 : undefined),
    refetchInterval: REFRESH_MS,
  });
  const findings = found.data?.pages.flatMap((page) => page.findings) ?? [];
  return (
    <>
      <Panel title="Findings">
        {found.isPending && <Skeleton label="Loading" lines={2} />}
        {found.isError && <ErrorState error={found.error} title="The findings could not be read" requestLabel="Request" />}
        {found.isSuccess && findings.length === 0 && (
          <p className="text-muted">No open findings: the system keeps to its contract and baseline.</p>
        )}
        {found.isSuccess && (
          <ul className="grid gap-5">
            {findings.map((finding) => (
              <OneFinding key={finding.id} finding={finding} />
            ))}
          </ul>
        )}
        <MoreButton list={found} label="More findings" />
      </Panel>
      <RestorePanel id={id} />
    </>
  );
}

/** A finding and the controls to resolve it. `namesSystem`: show which AI System it is about. */
export function OneFinding({ finding, namesSystem = false }: { readonly finding: Finding; readonly namesSystem?: boolean }): ReactNode {
  return (
    <li className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[finding.severity]}>{finding.severity}</Badge>
        <span className="font-medium break-all">{finding.title}</span>
        {finding.acknowledged_at !== null && <Badge>acknowledged by {finding.acknowledged_by}</Badge>}
        {namesSystem && <ReferenceLink slug="ai-systems" id={finding.ai_system_id} />}
      </div>
      <p className="text-sm break-all text-muted">
        {finding.subject}, first seen {formatRelative(finding.first_seen)}, last {formatRelative(finding.last_seen)}.
        {finding.first_row !== null && (
          <>
            {" "}
            <Link to="/audit" search={{ q: finding.first_row, row: finding.first_row } as never} className="text-accent underline">
              Show audit row
            </Link>
          </>
        )}
      </p>
      {finding.resolution !== null && (
        <p className="text-sm wrap-anywhere">
          Closed {finding.closed_at === null ? "" : formatRelative(finding.closed_at)} by {finding.closed_by ?? "the gateway"}:{" "}
          {finding.resolution.kind.replaceAll("_", " ")}
          {finding.resolution.note === null ? "" : `. ${finding.resolution.note}`}
        </p>
      )}
      {finding.status === "open" && <Decision finding={finding} />}
    </li>
  );
}

function Decision({ finding }: { readonly finding: Finding }): ReactNode {
  const queries = useQueryClient();
  const [kind, setKind] = useState<Resolution>("fixed");
  const [note, setNote] = useState("");
  const path = { id: finding.id };
  const renew = () => queries.invalidateQueries({ queryKey: ["ai-system"] });
  const acknowledge = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/drift/{id}/ack", { path, body: {} }),
    async onSuccess() {
      await renew();
      showToast("Acknowledged.");
    },
  });
  const resolve = useMutation({
    mutationFn: () =>
      adminApi.call("POST /v1/admin/drift/{id}/resolve", { path, body: { kind, note: note.trim() === "" ? null : note.trim() } }),
    async onSuccess() {
      await renew();
      showToast("Closed, and sealed in the admin log.");
    },
  });
  return (
    <Allowed operation="POST /v1/admin/drift/{id}/resolve">
      <div className="grid max-w-xl gap-3 sm:grid-cols-2">
        <SelectField
          label="Resolution"
          value={kind}
          choices={RESOLUTIONS.map((choice) => ({ ...choice }))}
          onChange={({ target }) => setKind(target.value as Resolution)}
        />
        <TextField label="Note" value={note} maxLength={4000} onChange={({ target }) => setNote(target.value)} />
      </div>
      <FormError error={resolve.error ?? acknowledge.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="primary" busy={resolve.isPending} onClick={() => resolve.mutate()}>
          Close finding
        </Button>
        {finding.acknowledged_at === null && (
          <Button busy={acknowledge.isPending} onClick={() => acknowledge.mutate()}>
            Acknowledge
          </Button>
        )}
      </div>
    </Allowed>
  );
}
