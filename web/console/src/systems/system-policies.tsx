import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { type ApiRecord, askRecords, documentQuery } from "../records/records-client.ts";

const ARM = "/v1/admin/ai-systems/{id}/response-policies";
const MODES = { off: "neutral", dry_run: "warn", armed: "good" } as const;
type Preview = AdminApiSchemas["ResponsePreview"];

/** The response policies that apply to an AI System: its own and the tenant's. */
export function SystemPolicies({ id }: { readonly id: string }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "response policies"],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/response-policies", { path: { id }, query: { page, page_size: 50 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const policies = found.data?.pages.flatMap((page) => page.response_policies) ?? [];
  return (
    <Panel title="Response policies">
      <div className="grid gap-4">
        {found.isPending && <Skeleton label="Loading" lines={2} />}
        {found.isError && <ErrorState error={found.error} title="The response policies could not be read" requestLabel="Request" />}
        {found.isSuccess && policies.length === 0 && <p className="text-muted">None applies. Findings wait for a person.</p>}
        {policies.length > 0 && (
          <ul className="grid gap-2">
            {policies.map(({ id: policy, name, mode, action, min_severity: severity, inherited }) => (
              <li key={policy} className="flex flex-wrap items-center gap-2">
                <Badge tone={MODES[mode]}>{mode.replaceAll("_", " ")}</Badge>
                <Link to="/manage/$kind/$id" params={{ kind: "response-policies", id: policy }} className="text-accent underline">
                  {name}
                </Link>
                <span className="text-sm text-muted">
                  {action.replaceAll("_", " ")} from severity {severity} up
                </span>
                {inherited && <Badge>inherited</Badge>}
              </li>
            ))}
          </ul>
        )}
        <MoreButton list={found} label="More response policies" />
        <Allowed operation={`POST ${ARM}`}>
          <NewPolicy id={id} />
        </Allowed>
      </div>
    </Panel>
  );
}

function NewPolicy({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const api = useQuery(documentQuery);
  const [round, setRound] = useState(0);
  const path = ARM.replace("{id}", encodeURIComponent(id));
  const preview = useMutation({
    mutationFn: async (value: ApiRecord) => (await askRecords("POST", `${path}/preview`, value)) as unknown as Preview,
  });
  const arm = useMutation({
    mutationFn: (value: ApiRecord) => askRecords("POST", path, value),
    async onSuccess() {
      preview.reset();
      setRound((before) => before + 1);
      await queries.invalidateQueries({ queryKey: ["ai-system", id] });
      showToast("Response policy created for this system.");
    },
  });
  const schema = api.isSuccess ? bodySchema(api.data, "POST", ARM) : null;
  if (!api.isSuccess || schema === null) return null;
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-sm font-medium">New response policy for this system</summary>
      <div className="mt-4 grid gap-4">
        <RecordForm
          key={round}
          document={api.data}
          schema={schema}
          references={{}}
          initial={{}}
          first={["name", "finding_kinds", "min_severity", "action", "mode", "ttl_seconds"]}
          submitLabel="Create response policy"
          busy={arm.isPending}
          error={arm.error}
          onSubmit={(value) => arm.mutate(value)}
          asksToLeave
          trial={{ label: "Preview", busy: preview.isPending, run: (value) => preview.mutate(value) }}
        />
        <FormError error={preview.error} />
        {preview.isSuccess && <PreviewView preview={preview.data} />}
      </div>
    </details>
  );
}

function PreviewView({ preview }: { readonly preview: Preview }): ReactNode {
  const { effect, would_fire_for: findings, keys, groups_below: groups, calls_last_day: calls } = preview;
  return (
    <div role="status" className="grid gap-3 rounded-lg bg-sunken p-3 text-sm">
      <p>{effect}</p>
      <Facts
        items={[
          ["Open findings it would respond to", findings.length === 0 ? "none" : findings.map(({ title }) => title).join("; ")],
          ["API keys affected", formatNumber(keys)],
          ["Groups below", formatNumber(groups)],
          ["Calls in the last day", formatNumber(calls)],
        ]}
      />
    </div>
  );
}
