import { Button } from "@gatehouse/web-kit/button.tsx";
import { CheckboxField, SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi, adminSession } from "../admin-client.ts";
import { DownloadButton } from "../download-button.tsx";
import { Allowed, useAllowed } from "../records/allowed.tsx";
import { hasPermission } from "../records/refusals.ts";
import { ContractSides } from "./contract-sides.tsx";

const PAGE_SIZE = 20;

const read = (id: string, page: number) =>
  adminApi.call("GET /v1/admin/ai-systems/{id}/contracts", { path: { id }, query: { page, page_size: PAGE_SIZE } });
type Contract = Awaited<ReturnType<typeof read>>["contracts"][number];

const STATE_TONES: Readonly<Record<string, "good" | "warn" | "accent" | "neutral">> = {
  active: "good",
  proposed: "warn",
  approved: "accent",
};

/** The system's contract: its versions, their differences, and pending reviews. */
export function ContractPanel({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "contracts"],
    queryFn: ({ pageParam }) => read(id, pageParam),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE_SIZE < total ? page + 1 : undefined),
  });
  const contracts = found.data?.pages.flatMap((page) => page.contracts) ?? [];
  const mint = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/ai-systems/{id}/contracts", { path: { id }, body: {} }),
    async onSuccess({ version }) {
      await queries.invalidateQueries({ queryKey: ["ai-system", id] });
      showToast(`Version ${version} created from the current configuration. Someone else must approve it.`);
    },
  });
  return (
    <Panel
      title="Contract"
      actions={
        <Allowed operation="POST /v1/admin/ai-systems/{id}/contracts">
          <Button busy={mint.isPending} onClick={() => mint.mutate()}>
            Create from configuration
          </Button>
        </Allowed>
      }
    >
      {found.isPending && <Skeleton label="Loading" lines={3} />}
      {found.isError && <ErrorState error={found.error} title="The contract could not be read" requestLabel="Request" />}
      <FormError error={mint.error} />
      {found.isSuccess && contracts.length === 0 && (
        <p className="text-muted">No contract yet. Creating one records everything the system may do as configured now.</p>
      )}
      {found.isSuccess && (
        <ul className="grid gap-4">
          {contracts.map((contract) => (
            <Version key={contract.id} systemId={id} contract={contract} />
          ))}
        </ul>
      )}
      <MoreButton list={found} label="Earlier versions" />
    </Panel>
  );
}

function Version({ systemId, contract }: { readonly systemId: string; readonly contract: Contract }): ReactNode {
  const [isOpen, setOpen] = useState(contract.state === "proposed");
  const { conformance } = contract;
  return (
    <li className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">Version {contract.version}</span>
        <Badge tone={STATE_TONES[contract.state] ?? "neutral"}>{contract.state}</Badge>
        {conformance !== null && (
          <Badge tone={conformance.conforms ? "good" : "bad"}>
            {conformance.conforms ? "the configuration conforms" : `the configuration deviates: ${conformance.overall}`}
          </Badge>
        )}
        <span className="text-sm text-muted">
          by {contract.minted_by ?? "the gateway"}, {formatRelative(contract.created_at)}
        </span>
        <Button onClick={() => setOpen(!isOpen)}>{isOpen ? "Hide" : "Show changes"}</Button>
        <DownloadButton
          path={`/v1/admin/ai-systems/${encodeURIComponent(systemId)}/contracts/${contract.version}/export`}
          fileName={`contract-${contract.version}.json`}
          label={`Download version ${contract.version}`}
        >
          Download
        </DownloadButton>
      </div>
      {isOpen && <Difference systemId={systemId} contract={contract} />}
      <Decision systemId={systemId} contract={contract} />
    </li>
  );
}

function Difference({ systemId, contract }: { readonly systemId: string; readonly contract: Contract }): ReactNode {
  const [against, setAgainst] = useState("before");
  const version = String(contract.version);
  const diff = useQuery({
    queryKey: ["ai-system", systemId, "diff", version, against],
    queryFn: () =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/contracts/{version}/diff", {
        path: { id: systemId, version },
        query: against === "live" ? { against } : {},
      }),
  });
  return (
    <div className="grid gap-3 rounded-lg bg-sunken p-3">
      <div className="max-w-72">
        <SelectField
          label={`Compare version ${version} with`}
          value={against}
          choices={[
            { value: "before", label: "the previous version" },
            { value: "live", label: "the current configuration" },
          ]}
          onChange={({ target }) => setAgainst(target.value)}
        />
      </div>
      {diff.isPending && <Skeleton label="Loading" lines={2} />}
      {diff.isError && <ErrorState error={diff.error} title="They could not be compared" requestLabel="Request" />}
      {diff.isSuccess && diff.data.changes.length === 0 && <p className="text-muted">No differences.</p>}
      {diff.isSuccess && diff.data.changes.length > 0 && (
        <ContractSides
          changes={diff.data.changes}
          before={
            against === "live"
              ? `In version ${version}`
              : diff.data.from === "nothing"
                ? "Before the first version"
                : `In version ${diff.data.from}`
          }
          after={against === "live" ? "Current configuration" : `In version ${version}`}
        />
      )}
    </div>
  );
}

const MOVES = {
  draft: ["propose", "withdraw"],
  proposed: ["approve", "reject", "withdraw"],
  approved: ["promote", "revoke"],
  active: ["revoke"],
} as const;
type Move = (typeof MOVES)[keyof typeof MOVES][number];

const LABELS: Record<Move, string> = {
  propose: "Propose",
  approve: "Approve",
  reject: "Reject",
  withdraw: "Withdraw",
  promote: "Activate",
  revoke: "Revoke",
};

function Decision({ systemId, contract }: { readonly systemId: string; readonly contract: Contract }): ReactNode {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [isOverriding, setOverriding] = useState(false);
  const path = { id: contract.id };
  const decide = useMutation({
    mutationFn: (move: Move) =>
      move === "promote"
        ? adminApi.call("POST /v1/admin/contracts/{id}/promote", {
            path,
            body: isOverriding ? { override_gate: { reason: reason.trim() } } : {},
          })
        : move === "propose"
          ? adminApi.call("POST /v1/admin/contracts/{id}/propose", { path, body: {} })
          : adminApi.call(`POST /v1/admin/contracts/{id}/${move}`, { path, body: { reason: reason.trim() } }),
    async onSuccess(answer) {
      setReason("");
      await queries.invalidateQueries({ queryKey: ["ai-system", systemId] });
      showToast(`Version ${answer.version} is ${answer.state}.`);
    },
  });
  const session = useSession(adminSession);
  const mayOverride = session.state === "in" && hasPermission(session.user, "contracts:override_gate");
  const isAllowed = useAllowed();
  const possible: readonly Move[] = MOVES[contract.state as keyof typeof MOVES] ?? [];
  const moves = possible.filter((move) => isAllowed(`POST /v1/admin/contracts/{id}/${move}`));
  if (moves.length === 0) return null;
  const needsReason = (move: Move) => move !== "propose" && (move !== "promote" || isOverriding);
  return (
    <div className="grid max-w-xl gap-3">
      {moves.some(needsReason) && (
        <TextField
          label={`Reason (version ${contract.version})`}
          value={reason}
          maxLength={4000}
          onChange={({ target }) => setReason(target.value)}
        />
      )}
      {moves.includes("promote") && mayOverride && (
        <CheckboxField label="Override the replay gate" checked={isOverriding} onChange={({ target }) => setOverriding(target.checked)} />
      )}
      <FormError error={decide.error} />
      <div className="flex flex-wrap gap-2">
        {moves.map((move) => (
          <Button
            key={move}
            busy={decide.isPending && decide.variables === move}
            disabled={needsReason(move) && reason.trim() === ""}
            onClick={() => decide.mutate(move)}
          >
            {LABELS[move]}
          </Button>
        ))}
      </div>
    </div>
  );
}
