import { Button } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage, readOn } from "@gatehouse/web-kit/paged-list.ts";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Part = AdminApiSchemas["UsagePart"];

const PAGE_SIZE = 200;

const DIVISIONS = ["resource_group", "api_key", "model", "day"] as const;
type FixedDivision = (typeof DIVISIONS)[number];
/** `label:NAME`: by the values of a label that callers give. */
export type Division = FixedDivision | `label:${string}`;

export function divisionOf(text: string | undefined): Division {
  const isLabel = (one: string): one is Division => one.startsWith("label:");
  return text !== undefined && isLabel(text) ? text : (DIVISIONS.find((one) => one === text) ?? "resource_group");
}

interface DivisionWords {
  readonly label: string;
  readonly header: string;
  readonly table: string;
  readonly cell: (part: Part) => ReactNode;
  readonly key: (part: Part) => string;
}

const RECORD_LINK = "text-accent underline";

const WORDS: Readonly<Record<FixedDivision, DivisionWords>> = {
  resource_group: {
    label: "Resource groups",
    header: "Resource group",
    table: "Usage by resource group",
    cell: ({ resource_group_id: id, resource_group_name: name }) =>
      id == null || name == null ? (
        (id ?? "none")
      ) : (
        <Link to="/manage/$kind/$id" params={{ kind: "resource-groups", id }} className={RECORD_LINK}>
          {name}
        </Link>
      ),
    key: ({ resource_group_id: id }) => id ?? "",
  },
  api_key: {
    label: "API keys",
    header: "API key",
    table: "Usage by API key",
    cell: ({ api_key_id: id, api_key_name: name }) =>
      id == null || name == null ? (
        (id ?? "no key: people in the portal")
      ) : (
        <Link to="/manage/$kind/$id" params={{ kind: "api-keys", id }} className={RECORD_LINK}>
          {name}
        </Link>
      ),
    key: ({ api_key_id: id }) => id ?? "",
  },
  model: { label: "Models", header: "Model", table: "Usage by model", cell: ({ model }) => model ?? "", key: ({ model }) => model ?? "" },
  day: { label: "Days", header: "Day", table: "Usage by day", cell: ({ period }) => period ?? "", key: ({ period }) => period ?? "" },
};

function wordsOf(by: Division): DivisionWords {
  const fixed = DIVISIONS.find((one) => one === by);
  if (fixed !== undefined) return WORDS[fixed];
  const name = by.slice("label:".length);
  return {
    label: `Label ${name}`,
    header: name,
    table: `Usage by the label ${name}`,
    cell: ({ label }) => label ?? "none",
    key: ({ label }) => (label == null ? "" : `=${label}`),
  };
}

function columnsOf({ header, cell }: DivisionWords): readonly Column<Part>[] {
  return [
    { id: "part", header, width: "minmax(12rem, 2fr)", cell },
    { id: "cost", header: "Cost", width: "7rem", align: "end", cell: ({ cost_usd: cost }) => formatUsd(cost) },
    { id: "calls", header: "Calls", width: "6rem", align: "end", cell: ({ requests }) => formatNumber(requests) },
    { id: "errors", header: "Failed", width: "6rem", align: "end", cell: ({ errors }) => formatNumber(errors) },
    { id: "in", header: "Tokens in", width: "7rem", align: "end", cell: ({ prompt_tokens: tokens }) => formatNumber(tokens) },
    { id: "out", header: "Tokens out", width: "7rem", align: "end", cell: ({ completion_tokens: tokens }) => formatNumber(tokens) },
  ];
}

/** The tenant's model usage, grouped by chosen dimensions, with a file export for chargeback. */
export function TenantUsage({
  query,
  by,
  onDivide,
}: {
  readonly query: { readonly from: string; readonly to: string };
  readonly by: Division;
  readonly onDivide: (by: Division) => void;
}): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["usage", query, by],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/usage", { query: { ...query, group_by: by, page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const labels = useQuery({ queryKey: ["usage", query, "labels"], queryFn: () => adminApi.call("GET /v1/admin/usage/labels", { query }) });
  const ofLabels = new Set(labels.data?.labels.map(({ name }) => `label:${name}` as const));
  if (by.startsWith("label:")) ofLabels.add(by as `label:${string}`);
  const words = wordsOf(by);
  const saved = useMutation({
    async mutationFn() {
      const csvQuery = new URLSearchParams({ ...query, group_by: by === "day" ? by : `day,${by}`, format: "csv" });
      saveFile(await (await adminApi.send(`/v1/admin/usage?${csvQuery}`)).blob(), "usage.csv");
    },
  });
  const first = found.data?.pages[0];
  const parts = found.data?.pages.flatMap(({ usage }) => usage) ?? [];
  return (
    <Panel title="The whole tenant">
      <div className="grid gap-4">
        <div className="flex flex-wrap items-end gap-3">
          <div className="min-w-48">
            <SelectField
              label="Divided by"
              value={by}
              choices={[...DIVISIONS, ...ofLabels].map((value) => ({ value, label: wordsOf(value).label }))}
              onChange={({ target }) => onDivide(divisionOf(target.value))}
            />
          </div>
          <Button icon={Download} busy={saved.isPending} onClick={() => saved.mutate()}>
            Save as CSV, by the day
          </Button>
        </div>
        {saved.isError && <FormError error={saved.error} />}
        {found.isPending && <Skeleton label="Loading" />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The usage could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {first !== undefined && (
          <Facts
            items={[
              ["Cost", formatUsd(first.totals.cost_usd)],
              ["Calls of models", formatNumber(first.totals.requests)],
              ["Failed", formatNumber(first.totals.errors)],
              ["Tokens", `${formatNumber(first.totals.prompt_tokens)} in, ${formatNumber(first.totals.completion_tokens)} out`],
              ...(first.totals.unpriced_requests > 0
                ? [["Calls without a price", formatNumber(first.totals.unpriced_requests)] as const]
                : []),
            ]}
          />
        )}
        {parts.length > 0 && (
          <DataTable
            label={words.table}
            columns={columnsOf(words)}
            rows={parts}
            rowKey={words.key}
            total={first?.total ?? parts.length}
            onEnd={() => readOn(found)}
          />
        )}
      </div>
    </Panel>
  );
}
