import { Button } from "@gatehouse/web-kit/button.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { formatNumber, formatPrice } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Library } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";
import { Allowed } from "../records/allowed.tsx";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { GROUP_REFERENCES } from "../records/record-kind.ts";
import { askRecords, documentQuery } from "../records/records-client.ts";

type Entry = AdminApiSchemas["CatalogEntry"];
const IMPORT = "/v1/admin/llm-catalog/{catalog_id}/import";
const PAGE_SIZE = 50;

/** The gateway's built-in model catalog; each model can be added with its prices and facts. */
export function ModelCatalogPage(): ReactNode {
  const { q } = useSearch({ strict: false }) as { q?: unknown };
  const searchText = typeof q === "string" ? q : "";
  const [text, setText] = useState(searchText);
  const [chosen, setChosen] = useState<Entry | null>(null);
  const go = useNavigate();
  const found = useInfiniteQuery({
    queryKey: ["model-catalog", searchText],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/llm-catalog", { query: { search: searchText, page, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <PageFrame
      product={PRODUCT}
      title="Model catalogue"
      lead="Models of known providers with current prices. An imported model can be called once its provider has a key and a group may use it."
    >
      <div className="grid gap-4">
        <form
          role="search"
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            void go({ to: "/model-catalog", search: (text.trim() === "" ? {} : { q: text.trim() }) as never, replace: true });
          }}
        >
          <TextField label="Search" type="search" value={text} maxLength={200} onChange={({ target }) => setText(target.value)} />
          <Button type="submit">Search</Button>
        </form>
        {found.isPending && <Skeleton label="Loading" lines={6} />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The catalogue could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && entries.length === 0 && (
          <EmptyState icon={Library} title="No matches">
            A model that the catalogue does not have is made by hand, under Models.
          </EmptyState>
        )}
        {entries.length > 0 && (
          <Panel title={`${formatNumber(found.data?.pages[0]?.total ?? 0)} models`}>
            <ul className="grid gap-4">
              {entries.map((entry) => (
                <EntryLine key={entry.id} entry={entry} onTake={() => setChosen(entry)} />
              ))}
            </ul>
          </Panel>
        )}
        <MoreButton list={found} label="More models" />
        {chosen !== null && <TakeOver entry={chosen} onClose={() => setChosen(null)} />}
      </div>
    </PageFrame>
  );
}

const priceOf = ({ input_cost_per_million_tokens: input, output_cost_per_million_tokens: output }: Entry) =>
  input === null && output === null
    ? "no price by tokens"
    : `${input === null ? "no price" : formatPrice(input)} in, ${output === null ? "no price" : formatPrice(output)} out per million tokens`;

function EntryLine({ entry, onTake }: { readonly entry: Entry; readonly onTake: () => void }): ReactNode {
  const { context_window: context } = entry;
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
      <div className="grid min-w-0 gap-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium break-all">{entry.model_name}</span>
          <Badge>{entry.provider_name}</Badge>
          {entry.modes.map((mode) => (
            <Badge key={mode}>{mode.replaceAll("_", " ")}</Badge>
          ))}
        </p>
        <p className="text-sm text-muted">
          {[entry.name, context === null ? null : `${formatNumber(context)} tokens of context`, priceOf(entry)]
            .filter((part) => part !== null)
            .join(", ")}
        </p>
      </div>
      <Allowed operation={`POST ${IMPORT}`}>
        <Button aria-label={`Take over ${entry.model_name} of ${entry.provider_name}`} onClick={onTake}>
          Take over
        </Button>
      </Allowed>
    </li>
  );
}

function TakeOver({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const go = useNavigate();
  const api = useQuery(documentQuery);
  const take = useMutation({
    mutationFn: (value: Readonly<Record<string, unknown>>) =>
      askRecords("POST", IMPORT.replace("{catalog_id}", encodeURIComponent(entry.id)), value),
    async onSuccess(model) {
      await queries.invalidateQueries({ queryKey: ["records"] });
      showToast(`${String(model["name"])} was created.`);
      await go({ to: "/manage/$kind/$id", params: { kind: "models", id: String(model["id"]) }, ignoreBlocker: true });
    },
  });
  const schema = api.isSuccess ? bodySchema(api.data, "POST", IMPORT) : null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Take over ${entry.model_name}`}
      description={`With the prices and facts of the catalogue. The provider ${entry.provider_key} is made where there is none.`}
      closeLabel="Close"
      wide
    >
      {api.isSuccess && schema !== null && (
        <RecordForm
          document={api.data}
          schema={schema}
          references={GROUP_REFERENCES}
          initial={{}}
          first={["name", "group_ids", "api_key", "enabled"]}
          submitLabel="Import"
          busy={take.isPending}
          error={take.error}
          onSubmit={(value) => take.mutate(value)}
          asksToLeave
        />
      )}
    </Dialog>
  );
}
