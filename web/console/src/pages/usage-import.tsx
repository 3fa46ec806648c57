import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { PageFrame } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { FileInput } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { PRODUCT } from "../product.ts";
import { ImportRuns } from "../usage-import/import-runs.tsx";
import { ImportSettings } from "../usage-import/import-settings.tsx";
import { UnmatchedNames } from "../usage-import/mappings.tsx";
import { Reconciliation } from "../usage-import/reconciliation.tsx";

/** Usage and cost as reported by vendors, next to what the gateway metered. */
export function UsageImportPage(): ReactNode {
  const [chosen, setChosen] = useState<string | null>(null);
  const found = useQuery({
    queryKey: ["usage-import", "providers"],
    queryFn: () => adminApi.call("GET /v1/admin/usage-import/providers", { query: { only_supported: "true", page_size: 200 } }),
  });
  const providers = found.data?.providers ?? [];
  const provider = providers.find(({ id }) => id === chosen) ?? providers[0];
  return (
    <PageFrame
      product={PRODUCT}
      title="Usage import"
      lead="Usage and cost reported by vendors, compared with what the gateway metered and never added to it."
    >
      <div className="grid gap-4">
        {found.isPending && <Skeleton label="Loading" />}
        {found.isError && <ErrorState error={found.error} title="The providers could not be read" requestLabel="Request" />}
        {found.isSuccess && provider === undefined && (
          <EmptyState icon={FileInput} title="No provider to import from">
            OpenAI, Anthropic, Google, Azure and AWS tell of usage: add one of them as a provider first.
          </EmptyState>
        )}
        {provider !== undefined && (
          <>
            <SelectField
              label="Provider"
              value={provider.id}
              choices={providers.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={({ target }) => setChosen(target.value)}
            />
            <Allowed operation="PATCH /v1/admin/usage-import/providers/{id}">
              <ImportSettings key={provider.id} provider={provider} />
            </Allowed>
            <ImportRuns id={provider.id} />
            <Reconciliation id={provider.id} />
            <UnmatchedNames id={provider.id} />
          </>
        )}
      </div>
    </PageFrame>
  );
}
