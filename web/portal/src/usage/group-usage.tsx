import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { UsedLimit } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";
import { limitLevel } from "./limit-level.ts";

function LimitLine({ limit }: { readonly limit: UsedLimit }): ReactNode {
  const t = usePortalTexts();
  const kinds: Readonly<Record<string, string>> = {
    daily_budget: t("limitDailyBudget"),
    monthly_budget: t("limitMonthlyBudget"),
    daily_tokens: t("limitDailyTokens"),
    monthly_tokens: t("limitMonthlyTokens"),
    daily_requests: t("limitDailyRequests"),
    monthly_requests: t("limitMonthlyRequests"),
  };
  const { limit_type: type, current, limit: most, utilization_percent: percent, blocks, resets_at: resets } = limit;
  const label = kinds[type] ?? type;
  const model = limit.model_name;
  const level = limitLevel(t, type, current, most);
  return (
    <li className="grid gap-1">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <span className="font-medium">{label}</span>
        {model !== null && <Badge>{model}</Badge>}
        {limit.inherited && <Badge>{limit.group_name}</Badge>}
        {percent >= 100 && <Badge tone={blocks ? "bad" : "warn"}>{blocks ? t("limitReached") : t("limitPassed")}</Badge>}
      </p>
      <meter
        aria-label={`${model === null ? label : t("limitOfModel", { limit: label, model })}: ${level}`}
        min={0}
        low={80}
        high={99}
        optimum={0}
        max={100}
        value={Math.min(100, percent)}
        className="h-3 w-full"
      />
      <p className="text-sm text-muted">
        {level}
        {resets !== null && ` · ${t("limitResets", { when: formatRelative(resets) })}`}
      </p>
    </li>
  );
}

/** Usage of the limits of the person's groups. Read from stored totals, so it works even when a budget is exhausted. */
export function GroupUsage(): ReactNode {
  const t = usePortalTexts();
  const usage = useQuery({ queryKey: ["usage"], queryFn: () => portalApi.call("GET /v1/portal/usage") });
  const groups = useQuery({ queryKey: ["groups"], queryFn: () => portalApi.call("GET /v1/portal/auth/groups") });
  if (usage.isPending || groups.isPending) return <Skeleton label={t("loading")} lines={3} />;
  if (usage.isError)
    return (
      <ErrorState
        error={usage.error}
        title={t("unreadable")}
        requestLabel={t("request")}
        retry={{ label: t("tryAgain"), run: () => void usage.refetch() }}
      />
    );
  const named = new Map((groups.data?.groups ?? []).map(({ id, name, display_name: shown }) => [id, shown ?? name]));
  return (
    <div className="grid gap-4">
      {usage.data.groups.map(({ group_id: id, limits }) => (
        <Panel key={id} title={t("usageOf", { group: named.get(id) ?? id })}>
          {limits.length === 0 ? (
            <p className="text-muted">{t("noLimits")}</p>
          ) : (
            <ul className="grid gap-4">
              {limits.map((limit) => (
                <LimitLine key={`${limit.group_id} ${limit.model_id ?? ""} ${limit.limit_type}`} limit={limit} />
              ))}
            </ul>
          )}
        </Panel>
      ))}
    </div>
  );
}
