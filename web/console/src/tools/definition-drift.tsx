import { Button } from "@gatehouse/web-kit/button.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { VisibleText } from "@gatehouse/web-kit/visible-text.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { memberLabel } from "../records/api-schema.ts";
import { sortedJson, textDifference } from "./text-difference.ts";

const read = (id: string) => adminApi.call("GET /v1/admin/mcp-servers/{id}/definition-drift", { path: { id } });
type Drift = Awaited<ReturnType<typeof read>>;
type DriftedTool = Drift["tools"][number];

const TONES = { added: "accent", removed: "warn", changed: "bad" } as const;

/** How a server's tools and instructions differ from the accepted definitions (names, texts and schemas), with a button to accept them. */
export function DefinitionDriftPanel({ id, mayAccept }: { readonly id: string; readonly mayAccept: boolean }): ReactNode {
  const queries = useQueryClient();
  // Below the key of the server's own page, so that refreshing that page refetches this too.
  const key = ["records", "tool-servers", "drift", id];
  const drift = useQuery({ queryKey: key, queryFn: () => read(id) });
  const accept = useMutation({
    mutationFn: (snapshotId: string) =>
      adminApi.call("POST /v1/admin/mcp-servers/{id}/accept-definitions", { path: { id }, body: { snapshot_id: snapshotId } }),
    onSuccess(now) {
      queries.setQueryData(key, now);
      showToast("Accepted. Later discoveries are compared with these definitions.");
    },
    onError: () => queries.invalidateQueries({ queryKey: key }),
  });
  return (
    <Panel title="Changes to tool definitions">
      {drift.isPending && <Skeleton label="Loading" lines={2} />}
      {drift.isError && <ErrorState error={drift.error} title="The difference could not be read" requestLabel="Request" />}
      {drift.isSuccess && (
        <div className="grid grid-cols-1 gap-4">
          <p className="text-muted">{sentence(drift.data)}</p>
          {drift.data.instructions !== null && (
            <section aria-label="Instructions" className="grid grid-cols-1 gap-1 rounded-lg border border-line p-3">
              <h3 className="font-medium">Instructions for models</h3>
              <Difference before={drift.data.instructions.before ?? ""} after={drift.data.instructions.after ?? ""} />
            </section>
          )}
          {drift.data.tools.map((tool) => (
            <ToolDifference key={tool.name} tool={tool} />
          ))}
          <FormError error={accept.error} />
          {drift.data.current !== null && isOther(drift.data) && mayAccept && (
            <div>
              <Button
                look="primary"
                icon={Check}
                busy={accept.isPending}
                onClick={() => accept.mutate(drift.data.current?.snapshot_id ?? "")}
              >
                Accept these definitions
              </Button>
            </div>
          )}
        </div>
      )}
    </Panel>
  );
}

const isOther = ({ tools, instructions }: Drift) => tools.length > 0 || instructions !== null;

function sentence(drift: Drift): string {
  const { accepted, current } = drift;
  if (accepted === null || current === null) return "This server has not been reached yet. Refresh its capabilities to set a baseline.";
  const since =
    accepted.accepted_at === null
      ? `what was found first, on ${formatDate(accepted.taken_at)}`
      : `what was accepted on ${formatDate(accepted.accepted_at)}`;
  if (!isOther(drift)) return `All tools are as ${since}.`;
  return `Compared: ${since}, with what was found on ${formatDate(current.taken_at)}. A model reads these texts as instructions: review them as if they were.`;
}

type Members = Readonly<Record<string, unknown>>;
const membersOf = (definition: unknown): Members => (typeof definition === "object" && definition !== null ? (definition as Members) : {});

function ToolDifference({ tool }: { readonly tool: DriftedTool }): ReactNode {
  const [before, after] = [membersOf(tool.before), membersOf(tool.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== "name" && sortedJson(before[name]) !== sortedJson(after[name]),
  );
  return (
    <section aria-label={tool.name} className="grid grid-cols-1 gap-3 rounded-lg border border-line p-3">
      <h3 className="flex flex-wrap items-center gap-2 font-medium">
        <Badge tone={TONES[tool.change]}>{tool.change}</Badge>
        <span className="break-all">{tool.name}</span>
      </h3>
      {tool.named_by.length > 0 && (
        <p className="text-sm text-warn">
          Allowed by {tool.named_by.join(", ")}
          {tool.change === "added" ? "." : ": whoever allowed it saw another definition."}
        </p>
      )}
      {names.map((name) => (
        <div key={name} className="grid grid-cols-1 gap-1">
          <h4 className="text-sm text-muted">{memberLabel(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))}</h4>
          <Difference before={before[name]} after={after[name]} />
        </div>
      ))}
    </section>
  );
}

/** Texts are compared by word, everything else by line of JSON. Changes are marked by a sign as well, not by color alone. */
function Difference({ before, after }: { readonly before: unknown; readonly after: unknown }): ReactNode {
  const isText = [before, after].every((one) => one === undefined || typeof one === "string");
  const written = (value: unknown) => (value === undefined ? "" : typeof value === "string" && isText ? value : `${sortedJson(value)}\n`);
  const parts = textDifference(written(before), written(after), isText ? "words" : "lines");
  return (
    <pre
      tabIndex={0}
      aria-label="Difference"
      className={`max-h-96 overflow-auto rounded-lg bg-sunken p-3 text-sm break-words whitespace-pre-wrap ${isText ? "font-sans" : "font-mono text-xs"}`}
    >
      {parts.map(({ kind, text }, at) =>
        kind === "same" ? (
          <VisibleText key={at} text={text} />
        ) : kind === "gone" ? (
          <del key={at} className="bg-bad-soft text-bad">
            <VisibleText text={text} />
          </del>
        ) : (
          <ins key={at} className="bg-good-soft text-good">
            <VisibleText text={text} />
          </ins>
        ),
      )}
    </pre>
  );
}
