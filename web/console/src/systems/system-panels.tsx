import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { BaselinePanel } from "./baseline-panel.tsx";
import { ContractPanel } from "./contract-panel.tsx";
import { EvidencePanel } from "./evidence-panel.tsx";
import { FindingPanel } from "./finding-panel.tsx";
import { LedgerStatementsPanel } from "./ledger-statements.tsx";
import { LifecyclePanel } from "./lifecycle-panel.tsx";
import { ReplayPanel } from "./replay-panel.tsx";
import { SnapshotPanel } from "./snapshot-panel.tsx";
import { SystemPolicies } from "./system-policies.tsx";

/** An AI System: health, lifecycle, contract, findings and certificates. */
export function SystemPanels({ id }: { readonly id: string }): ReactNode {
  return (
    <>
      <GapsPanel id={id} />
      <HealthPanel id={id} />
      <LifecyclePanel id={id} />
      <EvidencePanel id={id} />
      <ContractPanel id={id} />
      <ReplayPanel id={id} />
      <FindingPanel id={id} />
      <SystemPolicies id={id} />
      <BaselinePanel id={id} />
      <LedgerStatementsPanel id={id} />
      <SnapshotPanel id={id} />
    </>
  );
}

/** Gaps in the system's governance, each with what to do about it. */
function GapsPanel({ id }: { readonly id: string }): ReactNode {
  const board = useQuery({
    queryKey: ["ai-system", id, "gaps"],
    async queryFn() {
      const { name } = await adminApi.call("GET /v1/admin/ai-systems/{id}", { path: { id } });
      return adminApi.call("GET /v1/admin/ai-systems", { query: { search: name, page_size: 200 } });
    },
  });
  const gaps = board.data?.ai_systems.find((system) => system.id === id)?.gaps ?? [];
  if (gaps.length === 0) return null;
  return (
    <Panel title="Governance gaps" actions={<Badge tone="warn">{formatNumber(gaps.length)}</Badge>}>
      <ul className="grid gap-2">
        {gaps.map((gap) => (
          <li key={gap.id}>
            <span className="font-medium">{gap.title}.</span> <span className="text-muted">{gap.detail}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const TONES = { healthy: "good", watch: "warn", degraded: "warn", unhealthy: "bad", unknown: "neutral" } as const;

function HealthPanel({ id }: { readonly id: string }): ReactNode {
  const health = useQuery({
    queryKey: ["ai-system", id, "health"],
    queryFn: () => adminApi.call("GET /v1/admin/ai-systems/{id}/health", { path: { id } }),
  });
  return (
    <Panel title="Health" actions={health.isSuccess ? <Badge tone={TONES[health.data.band]}>{health.data.band}</Badge> : undefined}>
      {health.isPending && <Skeleton label="Loading" lines={3} />}
      {health.isError && <ErrorState error={health.error} title="Its health could not be read" requestLabel="Request" />}
      {health.isSuccess && (
        <div className="grid gap-3">
          <p className="text-muted">
            {health.data.score === null
              ? "Not enough data for a score: it needs 200 calls in 30 days and a baseline."
              : `${health.data.score} out of 100: the score of the weakest component.`}
          </p>
          <Facts
            items={health.data.components.map(
              ({ title, score, detail }) => [title, `${detail}${score === null ? "" : ` (${formatNumber(score)})`}`] as const,
            )}
          />
        </div>
      )}
    </Panel>
  );
}
