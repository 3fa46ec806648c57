import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { HeartPulse } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { useAllowed } from "./allowed.tsx";
import type { RecordKind } from "./record-kind.ts";
import { type ApiRecord, askRecords, readRecords, recordsKey, shownName } from "./records-client.ts";

interface Health {
  readonly id: string;
  readonly name: string;
  readonly is_healthy: boolean;
  readonly detail: string;
}

/** Most concurrent checks. */
const AT_ONCE = 4;

/** Checks records one by one, for kinds without a bulk check. Disabled records are skipped, as by the models' bulk check. */
async function checkEach(kind: RecordKind, onChecked: (done: number, total: number) => void): Promise<readonly Health[]> {
  const records: ApiRecord[] = [];
  for (let page = 1; ; page++) {
    const { items, total } = await readRecords(kind, "", page);
    records.push(...items);
    if (items.length === 0 || records.length >= total) break;
  }
  const checkable = records.filter((record) => record["enabled"] !== false);
  const found: Health[] = [];
  const waiting = checkable.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const record of waiting) {
        const id = String(record["id"]);
        const name = shownName(kind, record);
        const answer = await askRecords("POST", `${kind.path}/${encodeURIComponent(id)}/health-check`).catch((error: Error) => ({
          is_healthy: false,
          detail: error.message,
        }));
        found.push({ id, name, is_healthy: answer["is_healthy"] === true, detail: String(answer["detail"] ?? "") });
        onChecked(found.length, checkable.length);
      }
    }),
  );
  return found;
}

/** The permission needed to check all records of each kind. */
const CHECKS: Readonly<Record<string, keyof AdminApi & string>> = {
  models: "POST /v1/admin/llms/bulk-health-check",
  "tool-servers": "POST /v1/admin/mcp-servers/{id}/health-check",
  agents: "POST /v1/admin/agents/{id}/health-check",
};

/** Checks every enabled record of a kind and lists those that fail. */
export function HealthChecks({ kind }: { readonly kind: RecordKind }): ReactNode {
  const queries = useQueryClient();
  const isAllowed = useAllowed();
  const [progress, setProgress] = useState("");
  const check = useMutation({
    async mutationFn(): Promise<readonly Health[]> {
      setProgress("");
      if (kind.slug === "models") return (await adminApi.call("POST /v1/admin/llms/bulk-health-check", { body: {} })).results;
      return checkEach(kind, (done, total) => setProgress(`${formatNumber(done)} of ${formatNumber(total)}`));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: recordsKey(kind) }),
  });
  const operation = CHECKS[kind.slug];
  if (operation === undefined || !isAllowed(operation)) return null;
  const failing = (check.data ?? []).filter(({ is_healthy: isHealthy }) => !isHealthy).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (
    <Panel
      title="Health"
      actions={
        <Button icon={HeartPulse} busy={check.isPending} onClick={() => check.mutate()}>
          Check all
        </Button>
      }
    >
      <div className="grid gap-3">
        <p className="text-muted" role="status">
          {check.isPending
            ? `Checking${progress === "" ? "" : `: ${progress}`}…`
            : check.isSuccess
              ? `${formatNumber(check.data.length - failing.length)} of ${formatNumber(check.data.length)} answered.`
              : `Checks every enabled ${kind.noun} and lists the ones that fail.`}
        </p>
        <FormError error={check.error} />
        {failing.length > 0 && (
          <ul aria-label="Failing" className="grid max-h-96 gap-2 overflow-y-auto">
            {failing.map(({ id, name, detail }) => (
              <li key={id} className="flex flex-wrap items-baseline gap-2">
                <Badge tone="bad">failing</Badge>
                <Link to="/manage/$kind/$id" params={{ kind: kind.slug, id }} className="text-accent underline">
                  {name}
                </Link>
                <span className="min-w-0 text-sm text-muted wrap-anywhere">{detail}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}
