import { Button } from "@gatehouse/web-kit/button.tsx";
import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState } from "@gatehouse/web-kit/states.tsx";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { ListedRow } from "./listed-row.ts";

/** Which fields stand together, in the order somebody asks for them; the rest comes behind. */
const GROUPS: readonly (readonly [title: string, fields: RegExp])[] = [
  [
    "What was decided",
    /^(?:success|http_status_code|error_type|error_message|proxy_subtype|guardrail_|guardrails_|pii_|argument_policy_|semantic_policy_|agent_authz_|agent_grant_|autonomy_|consumed_approval|pre_action_state|residency_|region_|compliance_)/,
  ],
  ["Who called", /^(?:gateway_user_|api_key_|client_|user_agent|subject_|actor_|resource_group_|tenant_id|is_auth_event|oauth_)/],
  ["What was called", /^(?:proxy_type|http_method|endpoint|target_url|server_|mcp_|skill_|llm_|a2a_|tool_|upstream_)/],
  ["What it used", /(?:_tokens|_cost_usd|_savings_usd|duration_ms|_bytes|media_)/],
  ["Its place in a run", /^(?:root_task_id|run_|session_|correlation_id|parent_|turn_|trace_|deciding_)/],
  ["Its place in the record", /^(?:id|timestamp|created_at|chain_|row_hash|prev_hash|hash_|source|checkpoint)/],
];
const PREVIEWS: readonly (readonly [field: string, title: string])[] = [
  ["request_body_preview", "What was sent"],
  ["response_body_preview", "What was answered"],
];

const shown = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

function groupsOf(row: ListedRow): (readonly [title: string, fields: readonly (readonly [string, string])[]])[] {
  const left = new Map(Object.entries(row).filter(([name, value]) => value !== null && !PREVIEWS.some(([field]) => field === name)));
  const groups = GROUPS.map(([title, pattern]) => {
    const fields = [...left].filter(([name]) => pattern.test(name));
    for (const [name] of fields) left.delete(name);
    return [title, fields.map(([name, value]) => [name, shown(value)] as const)] as const;
  });
  const rest = [...left].map(([name, value]) => [name, shown(value)] as const);
  return [...groups, ["Everything else", rest] as const].filter(([, fields]) => fields.length > 0);
}

/** Proves the part of the chain around the row anew. */
function ChainProof({ row }: { readonly row: ListedRow }): ReactNode {
  const { chain_id: chain, chain_seq: seq } = row;
  const verify = useMutation({
    mutationFn: () =>
      adminApi.call("POST /v1/admin/audit/chains/{chain_id}/verify", {
        path: { chain_id: chain ?? "" },
        body: { from_seq: Math.max(1, (seq ?? 1) - 100), to_seq: (seq ?? 1) + 100 },
      }),
  });
  if (chain == null || seq == null) return null;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => verify.mutate()} disabled={verify.isPending}>
          {verify.isPending ? "Verifying…" : "Verify this row and its neighbours"}
        </Button>
        {verify.isSuccess && (
          <span role="status" className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone={verify.data.verdict === "intact" || verify.data.verdict === "unanchored" ? "good" : "bad"}>
              {verify.data.verdict}
            </Badge>
            {verify.data.rows_checked} rows and {verify.data.checkpoints_checked} checkpoints looked at
          </span>
        )}
      </div>
      {verify.isSuccess && verify.data.findings.length > 0 && (
        <ul className="grid gap-1 text-sm">
          {verify.data.findings.map((finding) => (
            <li key={`${finding.chain_seq} ${finding.detail}`}>
              {finding.verdict} at {finding.chain_seq}: {finding.detail}
            </li>
          ))}
        </ul>
      )}
      {verify.isError && <ErrorState error={verify.error} title="The chain could not be verified" requestLabel="Request" />}
    </div>
  );
}

/** One row of the ledger, with every field it has. */
export function RowDetails({ row }: { readonly row: ListedRow }): ReactNode {
  return (
    <div className="grid gap-4">
      <Panel
        title={row.error_type == null ? "Served" : `Refused or failed: ${row.error_type}`}
        actions={<CopyButton text={JSON.stringify(row, null, 2)} label="Copy the row as JSON" doneLabel="Copied" />}
      >
        <div className="grid gap-4">
          {typeof row.error_message === "string" && <p>{row.error_message}</p>}
          <ChainProof row={row} />
        </div>
      </Panel>
      {groupsOf(row).map(([title, fields]) => (
        <Panel key={title} title={title}>
          <Facts
            items={fields.map(([name, value]) => [
              name,
              <span key={name} dir="auto" className="break-all">
                {value}
              </span>,
            ])}
          />
        </Panel>
      ))}
      {PREVIEWS.map(([field, title]) => {
        const text = (row as Readonly<Record<string, unknown>>)[field];
        return typeof text === "string" ? (
          <Panel key={field} title={title}>
            <pre dir="auto" tabIndex={0} className="max-h-96 overflow-auto rounded-lg bg-sunken p-3 font-mono text-sm whitespace-pre-wrap">
              {text}
            </pre>
          </Panel>
        ) : null;
      })}
    </div>
  );
}
