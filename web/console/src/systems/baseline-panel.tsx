import { Chart, type Series } from "@gatehouse/web-kit/chart.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { adminApi } from "../admin-client.ts";

const read = (id: string) => adminApi.call("GET /v1/admin/ai-systems/{id}/baselines", { path: { id } });
type Figure = Awaited<ReturnType<typeof read>>["figures"][number];

const dollars = (value: number): string => `$${value.toPrecision(2)}`;
const share = (value: number): string => `${formatNumber(Math.round(1000 * value) / 10)} %`;
const whole = (value: number): string => formatNumber(Math.round(value));

const METRICS: Readonly<Record<string, { readonly label: string; readonly format: (value: number) => string }>> = {
  cost: { label: "Cost of a call", format: dollars },
  token_shape: { label: "Tokens of a call", format: whole },
  latency: { label: "Milliseconds of a call", format: whole },
  volume: { label: "Calls of a day", format: whole },
  error_rate: { label: "Share of calls that fail", format: share },
  refusal_rate: { label: "Share of calls that are refused", format: share },
  guardrail_rate: { label: "Share of calls that guardrails speak of", format: share },
};

/** The system's baseline as curves next to its recent behavior, and the liveness of its controls. */
export function BaselinePanel({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({ queryKey: ["ai-system", id, "baselines"], queryFn: () => read(id) });
  return (
    <Panel
      title="Baseline"
      actions={
        found.isSuccess ? (
          <Badge tone={found.data.state === "active" ? "good" : "neutral"}>
            {found.data.epoch === null ? "being learned" : `epoch ${found.data.epoch}`}
          </Badge>
        ) : undefined
      }
    >
      {found.isPending && <Skeleton label="Loading" lines={4} />}
      {found.isError && <ErrorState error={found.error} title="Its baselines could not be read" requestLabel="Request" />}
      {found.isSuccess && found.data.epoch === null && (
        <p className="text-muted">
          {formatNumber(found.data.learning.calls)} of {formatNumber(found.data.learning.needed_calls)} calls were seen, over at least{" "}
          {formatNumber(found.data.learning.needed_days)} days.
        </p>
      )}
      {found.isSuccess && <Plots figures={found.data.figures} />}
      <Controls id={id} />
    </Panel>
  );
}

function Plots({ figures }: { readonly figures: readonly Figure[] }): ReactNode {
  const shownFigures = figures.filter(({ points }) => points.length > 0);
  const [chosen, choose] = useState("volume");
  const figure = shownFigures.find(({ metric }) => metric === chosen) ?? shownFigures[0];
  if (figure === undefined) return <p className="text-muted">There were no calls in the last 14 days, or too few for a curve.</p>;
  return (
    <div className="grid gap-3">
      <div className="max-w-72">
        <SelectField
          label="Show"
          value={figure.metric}
          choices={shownFigures.map(({ metric }) => ({ value: metric, label: METRICS[metric]?.label ?? metric }))}
          onChange={({ target }) => choose(target.value)}
        />
      </div>
      <Curve figure={figure} />
    </div>
  );
}

function Curve({ figure: { metric, normal, points } }: { readonly figure: Figure }): ReactNode {
  const { label, format } = METRICS[metric] ?? { label: metric, format: whole };
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const series = useMemo((): Series[] => {
    const seen = { label: "seen", values: points.map(({ value }) => value) };
    return normal === null ? [seen] : [seen, { label: "normal", values: points.map(() => normal) }];
  }, [points, normal]);
  return <Chart caption={label} times={times} series={series} format={format} timeLabel="Time" tableLabel="Show as table" />;
}

function Controls({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["ai-system", id, "liveness"],
    queryFn: () => adminApi.call("GET /v1/admin/ai-systems/{id}/liveness", { path: { id } }),
  });
  if (!found.isSuccess) return null;
  const { status, controls } = found.data;
  return (
    <div className="grid gap-2">
      <h3 className="font-medium">Control liveness</h3>
      <Facts
        items={[
          ["the system", status] as const,
          ...controls.map(
            ({ control, status: of, calls_since: since }) =>
              [control.replaceAll("_", " "), since === 0 ? of : `${of}: none in ${formatNumber(since)} calls`] as const,
          ),
        ]}
      />
    </div>
  );
}
