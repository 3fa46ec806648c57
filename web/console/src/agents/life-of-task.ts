import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import type { ListedRow } from "../audit/listed-row.ts";

interface StateStep {
  readonly kind: "state";
  readonly key: string;
  readonly at: string;
  readonly state: string;
}
interface CallStep {
  readonly kind: "call";
  readonly key: string;
  readonly at: string;
  readonly rowId: string;
  readonly what: string;
  readonly durationMs: number;
  readonly success: boolean;
  readonly error: string;
  readonly decision: string | null;
}
export type LifeStep = StateStep | CallStep;

/** The task's states and calls in chronological order. */
export function lifeOf({ states }: AdminApiSchemas["AgentTask"], rows: readonly ListedRow[]): readonly LifeStep[] {
  const steps: LifeStep[] = [
    ...states.map(({ state, at }) => ({ kind: "state" as const, key: `${at} ${state}`, at, state })),
    ...rows.map((row) => ({
      kind: "call" as const,
      key: `row ${row.id}`,
      at: row.timestamp ?? "",
      rowId: String(row.id),
      what: [row.proxy_type, row.proxy_subtype?.replaceAll("_", " ")].filter((one) => one != null).join(": "),
      durationMs: Math.round(row.duration_ms ?? 0),
      success: row.success === true,
      error: row.error_type ?? "failed",
      decision: row.agent_authz_decision ?? null,
    })),
  ];
  return steps.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
