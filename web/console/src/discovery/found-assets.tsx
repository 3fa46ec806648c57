import { Button } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Radar } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Asset = AdminApiSchemas["DiscoveredAsset"];
type Coverage = AdminApiSchemas["DiscoveryCoverage"];

const TONES = { governed: "good", partially_governed: "warn", ungoverned: "bad", dismissed: "neutral" } as const;
const STATUSES = ["", "ungoverned", "partially_governed", "governed", "dismissed"] as const;
const TYPES = ["", "local_ai_client", "local_mcp_server", "mcp_server", "agent", "model"] as const;
const PAGE_SIZE = 100;
/** The console page on which each kind of record is created. */
const FORMS: Readonly<Record<string, string>> = { mcp_server: "tool-servers", agent: "agents", model: "models" };

const words = (text: string) => text.replaceAll("_", " ");
const choicesOf = (values: readonly string[]) => values.map((value) => ({ value, label: value === "" ? "all" : words(value) }));

function CoveragePanel({ coverage }: { readonly coverage: Coverage }): ReactNode {
  const queries = useQueryClient();
  const reconcile = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/discovery/reconcile", {}),
    async onSuccess({ checked, changed }) {
      await queries.invalidateQueries({ queryKey: ["discovery"] });
      showToast(`${formatNumber(checked)} looked at, ${formatNumber(changed)} changed.`);
    },
  });
  return (
    <Panel
      title="Coverage"
      actions={
        <Allowed operation="POST /v1/admin/discovery/reconcile">
          <Button busy={reconcile.isPending} onClick={() => reconcile.mutate()}>
            Reconcile now
          </Button>
        </Allowed>
      }
    >
      <Facts
        items={[
          ["Governed", coverage.governed_pct === null ? "nothing found yet" : `${coverage.governed_pct} %`],
          ["Assets", `${formatNumber(coverage.total)} active, ${formatNumber(coverage.gone)} gone`],
          ["Bypasses the gateway", `${formatNumber(coverage.ungoverned)}, and ${formatNumber(coverage.partially_governed)} in part`],
          ["Dismissed", formatNumber(coverage.dismissed)],
          ["Devices", formatNumber(coverage.devices)],
        ]}
      />
      <FormError error={reconcile.error} />
    </Panel>
  );
}

const columns: Column<Asset>[] = [
  { id: "name", header: "Name", width: "minmax(9rem, 2fr)", cell: ({ name }) => name },
  { id: "type", header: "Type", width: "minmax(7rem, 1fr)", cell: ({ asset_type: type }) => words(type) },
  {
    id: "governance",
    header: "Governance",
    width: "minmax(7rem, 1fr)",
    cell: ({ governance_status: status }) => <Badge tone={TONES[status]}>{words(status)}</Badge>,
  },
  { id: "device", header: "Device", width: "minmax(7rem, 1fr)", cell: (asset) => asset.device_name ?? asset.device_id ?? "" },
  { id: "seen", header: "Last seen", width: "minmax(7rem, 1fr)", cell: ({ last_seen: seen }) => formatRelative(seen) },
];

function AssetDialog({ asset, onClose }: { readonly asset: Asset; readonly onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const go = useNavigate();
  const [reason, setReason] = useState("");
  const path = { id: asset.id };
  const done = async () => {
    await queries.invalidateQueries({ queryKey: ["discovery"] });
    onClose();
  };
  const onboard = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/discovery/assets/{id}/onboard", { path }),
    async onSuccess({ prefill }) {
      await done();
      const kind = FORMS[prefill.kind];
      showToast(prefill.note);
      if (kind !== undefined) await go({ to: "/manage/$kind/new", params: { kind }, state: { prefill: prefill.body } as never });
    },
  });
  const dismiss = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/discovery/assets/{id}/dismiss", { path, body: { reason: reason.trim() } }),
    onSuccess: done,
  });
  const restore = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/discovery/assets/{id}/restore", { path }),
    onSuccess: done,
  });
  const attributes = Object.entries(asset.attributes).map(([name, value]) => [words(name), String(value)] as const);
  return (
    <Dialog open onClose={onClose} title={asset.name} description={asset.governance_reason} closeLabel="Close">
      <div className="grid gap-4">
        <Facts
          items={[
            ["Type", words(asset.asset_type)],
            ["Version", asset.version ?? "unknown"],
            ["Address", asset.endpoints.join(", ") || "none"],
            ["Device", asset.device_name ?? asset.device_id ?? "none"],
            ["State", asset.onboarded_at === null ? asset.status : `${asset.status}, taken up ${formatRelative(asset.onboarded_at)}`],
            ["First seen", formatRelative(asset.first_seen)],
            ...attributes,
          ]}
        />
        <FormError error={onboard.error ?? dismiss.error ?? restore.error} />
        {asset.dismissed_reason === null ? (
          <>
            <Allowed operation="POST /v1/admin/discovery/assets/{id}/onboard">
              <div>
                <Button look="primary" busy={onboard.isPending} onClick={() => onboard.mutate()}>
                  Onboard
                </Button>
              </div>
            </Allowed>
            <Allowed operation="POST /v1/admin/discovery/assets/{id}/dismiss">
              <form
                className="grid gap-2"
                onSubmit={(event) => {
                  event.preventDefault();
                  dismiss.mutate();
                }}
              >
                <TextField
                  label="Why it may stay as it is"
                  value={reason}
                  maxLength={1000}
                  onChange={({ target }) => setReason(target.value)}
                />
                <div>
                  <Button type="submit" busy={dismiss.isPending} disabled={reason.trim() === ""}>
                    Dismiss
                  </Button>
                </div>
              </form>
            </Allowed>
          </>
        ) : (
          <Allowed operation="POST /v1/admin/discovery/assets/{id}/restore">
            <div>
              <Button busy={restore.isPending} onClick={() => restore.mutate()}>
                Undo the dismissal
              </Button>
            </div>
          </Allowed>
        )}
      </div>
    </Dialog>
  );
}

/** Discovered assets, how many of them are governed, and the actions for each. */
export function FoundAssets(): ReactNode {
  const [governance, setGovernance] = useState<(typeof STATUSES)[number]>("");
  const [type, setType] = useState<(typeof TYPES)[number]>("");
  const [text, setText] = useState("");
  const [opened, setOpened] = useState<Asset | null>(null);
  const query = {
    ...(governance === "" ? {} : { governance_status: governance }),
    ...(type === "" ? {} : { asset_type: type }),
    ...(text.trim() === "" ? {} : { q: text.trim() }),
  };
  const found = useInfiniteQuery({
    queryKey: ["discovery", "assets", query],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/discovery/assets", { query: { ...query, page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (all.length * PAGE_SIZE < last.total ? all.length + 1 : undefined),
    placeholderData: keepPreviousData,
  });
  if (found.isPending) return <Skeleton label="Loading" lines={6} />;
  if (found.isError)
    return (
      <ErrorState
        error={found.error}
        title="What was found could not be read"
        requestLabel="Request"
        retry={{ label: "Try again", run: () => void found.refetch() }}
      />
    );
  const [first] = found.data.pages;
  const rows = found.data.pages.flatMap(({ assets }) => assets);
  return (
    <>
      {first !== undefined && <CoveragePanel coverage={first.coverage} />}
      <div className="grid gap-3 sm:grid-cols-3">
        <SelectField
          label="Governance"
          value={governance}
          choices={choicesOf(STATUSES)}
          onChange={({ target }) => setGovernance(target.value as typeof governance)}
        />
        <SelectField label="Type" value={type} choices={choicesOf(TYPES)} onChange={({ target }) => setType(target.value as typeof type)} />
        <TextField label="Search" type="search" value={text} maxLength={200} onChange={({ target }) => setText(target.value)} />
      </div>
      {rows.length === 0 ? (
        <EmptyState icon={Radar} title="Nothing found">
          Run <code>gatehouse scout</code> on a device with a collector key, or import an inventory below.
        </EmptyState>
      ) : (
        <DataTable
          label="Found assets"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          total={first?.total ?? rows.length}
          selected={opened?.id ?? null}
          onSelect={setOpened}
          onEnd={() => readOn(found)}
        />
      )}
      {opened !== null && <AssetDialog asset={opened} onClose={() => setOpened(null)} />}
    </>
  );
}
