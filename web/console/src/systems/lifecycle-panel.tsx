import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleDashed } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { useAllowed } from "../records/allowed.tsx";

const read = (id: string) => adminApi.call("GET /v1/admin/ai-systems/{id}/lifecycle", { path: { id } });
type Lifecycle = Awaited<ReturnType<typeof read>>;
type Transition = Lifecycle["transitions"][number];

const RETIRE = "retire";

export const stateWords = (state: string): string => state.replaceAll("_", " ");

/** The system's lifecycle stage, and what each possible next stage still requires. */
export function LifecyclePanel({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [isRetiring, setRetiring] = useState(false);
  const mayMove = useAllowed()("POST /v1/admin/ai-systems/{id}/lifecycle");
  const found = useQuery({ queryKey: ["ai-system", id, "lifecycle"], queryFn: () => read(id) });
  const go = useMutation({
    mutationFn: (to: Transition["to"]) =>
      adminApi.call("POST /v1/admin/ai-systems/{id}/lifecycle", { path: { id }, body: { to, reason: reason.trim() } }),
    onSettled: () => setRetiring(false),
    async onSuccess(answer) {
      setReason("");
      await queries.invalidateQueries({ queryKey: ["ai-system", id] });
      await queries.invalidateQueries({ queryKey: ["records", "ai-systems"] });
      showToast(`It is ${stateWords(answer.state)} now. That holds for the next call.`);
    },
  });
  return (
    <Panel title="Lifecycle" actions={found.isSuccess ? <Badge tone="accent">{stateWords(found.data.state)}</Badge> : undefined}>
      {found.isPending && <Skeleton label="Loading" lines={3} />}
      {found.isError && <ErrorState error={found.error} title="The lifecycle could not be read" requestLabel="Request" />}
      {found.isSuccess && (
        <div className="grid gap-4">
          <p className="text-sm text-muted">
            {found.data.transitions.length === 0
              ? "This system is retired. It can be viewed but not changed."
              : `Since ${formatRelative(found.data.since)}. Every step is sealed in the admin log with its reason.`}
          </p>
          {mayMove && found.data.transitions.length > 0 && (
            <div className="max-w-xl">
              <TextField label="Reason" value={reason} maxLength={4000} onChange={({ target }) => setReason(target.value)} />
            </div>
          )}
          <FormError error={go.error} />
          <ul className="grid gap-4">
            {found.data.transitions.map((transition) => (
              <li key={transition.to} className="grid gap-2">
                {mayMove ? (
                  <div>
                    <Button
                      busy={go.isPending && go.variables === transition.to}
                      disabled={!transition.allowed || reason.trim() === ""}
                      onClick={() => (transition.to === "retired" ? setRetiring(true) : go.mutate(transition.to))}
                    >
                      To {stateWords(transition.to)}
                    </Button>
                  </div>
                ) : (
                  <p className="font-medium">To {stateWords(transition.to)}</p>
                )}
                <Requirements of={transition} />
              </li>
            ))}
          </ul>
          <ConfirmDialog
            open={isRetiring}
            onClose={() => setRetiring(false)}
            title="Retire this system?"
            description="Its calls are refused from now on. This cannot be undone: a retired system can be viewed but not changed."
            closeLabel="Cancel"
            confirmLabel="Retire"
            busy={go.isPending}
            onConfirm={() => go.mutate("retired")}
            typed={{ text: RETIRE, label: `Type ${RETIRE} to go on` }}
          />
        </div>
      )}
    </Panel>
  );
}

function Requirements({ of }: { readonly of: Transition }): ReactNode {
  return (
    <ul aria-label={`What ${stateWords(of.to)} needs`} className="grid gap-1 text-sm">
      {of.requirements.map(({ id, title, met, detail }) => (
        <li key={id} className="flex items-start gap-2">
          {met ? (
            <CircleCheck aria-label="met" className="mt-0.5 size-4 shrink-0 text-good" />
          ) : (
            <CircleDashed aria-label="missing" className="mt-0.5 size-4 shrink-0 text-warn" />
          )}
          <span>
            {title}
            {!met && <span className="text-muted"> – {detail}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
