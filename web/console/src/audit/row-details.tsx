import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { VisibleText } from "@gatehouse/web-kit/visible-text.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ReferenceLink } from "../records/reference-link.tsx";
import { ChainProof } from "./chain-proof.tsx";
import type { ListedRow } from "./listed-row.ts";

/** Groups of related fields, most relevant first; all other fields follow. */
const GROUPS: readonly (readonly [title: string, fields: RegExp])[] = [
  [
    "Decisions",
    /^(?:success|http_status_code|error_type|error_message|proxy_subtype|guardrail_|guardrails_|pii_|argument_policy_|semantic_policy_|agent_authz_|agent_grant_|autonomy_|consumed_approval|pre_action_state|residency_|region_|compliance_)/,
  ],
  ["Caller", /^(?:gateway_user_|api_key_|client_|user_agent|subject_|actor_|resource_group_|tenant_id|is_auth_event|oauth_)/],
  ["Called", /^(?:proxy_type|http_method|endpoint|target_url|server_|mcp_|skill_|llm_|a2a_|tool_|upstream_)/],
  ["Usage and cost", /(?:_tokens|_cost_usd|_savings_usd|duration_ms|_bytes|media_)/],
  ["Run", /^(?:root_task_id|run_|session_|correlation_id|parent_|turn_|trace_|deciding_)/],
  ["Audit chain", /^(?:id|timestamp|created_at|chain_|row_hash|prev_hash|hash_|source|checkpoint)/],
];
const PREVIEWS: readonly (readonly [field: string, title: string])[] = [
  ["request_body_preview", "Request"],
  ["response_body_preview", "Response"],
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

/** Fields whose value links to other rows with the same value. */
const SHARED =
  /^(?:tenant_id|resource_group_id|api_key_id|gateway_user_id|subject_id|actor_agent_id|client_ip|error_type|llm_model_used|llm_provider|server_id|mcp_capability_name|skill_id|prompt_fingerprint|correlation_id|root_task_id|turn_id|chain_id|proxy_subtype|end_user_session_id)$/;

/** Fields that hold a record's ID, with the kind of record. */
const RECORDS: Readonly<Record<string, string>> = {
  tenant_id: "tenants",
  resource_group_id: "resource-groups",
  api_key_id: "api-keys",
  gateway_user_id: "people",
  server_id: "tool-servers",
  skill_id: "skills",
  guardrail_config_id: "guardrails",
  argument_policy_id: "argument-policies",
  semantic_policy_id: "semantic-policies",
  agent_grant_id: "agent-grants",
};

function FieldValue({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <span className="flex flex-wrap items-baseline gap-x-3">
      <span dir="auto" className="break-all">
        {value}
      </span>
      {RECORDS[name] !== undefined && <ReferenceLink slug={RECORDS[name]} id={value} />}
      {name === "root_task_id" && (
        <Link to="/runs/$id" params={{ id: value }} className="inline-block py-0.5 text-sm text-accent underline">
          The run
        </Link>
      )}
      {SHARED.test(name) && (
        <Link
          to="/audit"
          search={{ where: { [name]: value } } as never}
          aria-label={`Rows with the same ${name}`}
          className="inline-block py-0.5 text-sm text-accent underline"
        >
          Rows with the same
        </Link>
      )}
    </span>
  );
}

/** One row of the ledger with all its fields. */
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
          <Facts items={fields.map(([name, value]) => [name, <FieldValue key={name} name={name} value={value} />])} />
        </Panel>
      ))}
      {PREVIEWS.map(([field, title]) => {
        const text = (row as Readonly<Record<string, unknown>>)[field];
        return typeof text === "string" ? (
          <Panel key={field} title={title}>
            <pre dir="auto" tabIndex={0} className="max-h-96 overflow-auto rounded-lg bg-sunken p-3 font-mono text-sm whitespace-pre-wrap">
              <VisibleText text={text} />
            </pre>
          </Panel>
        ) : null;
      })}
    </div>
  );
}
