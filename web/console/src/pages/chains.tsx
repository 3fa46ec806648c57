import { Button } from "@gatehouse/web-kit/button.tsx";
import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { formatDateInZone, formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { AcknowledgeFindings } from "../audit/acknowledge-findings.tsx";
import { VerificationView } from "../audit/verification.tsx";
import { PRODUCT } from "../product.ts";
import { OfAllTenants } from "../of-all-tenants.tsx";

type Verification = AdminApi["POST /v1/admin/audit/chains/{chain_id}/verify"]["answer"];
type Chain = AdminApi["GET /v1/admin/audit/chains"]["answer"]["chains"][number];

const OFFLINE = "npx gatehouse audit verify chain.jsonl --public-key public-keys.txt";

/** The audit chains: how far each is signed, and verification. */
export function ChainsPage(): ReactNode {
  const chains = useQuery({ queryKey: ["chains"], queryFn: () => adminApi.call("GET /v1/admin/audit/chains"), retry: false });
  return (
    <PageFrame
      product={PRODUCT}
      title="Audit chains"
      lead="Each process writes its rows as a hash chain: every row contains the hash of the previous one, and checkpoints are signed."
    >
      <div className="grid gap-4">
        <OfAllTenants />
        {chains.isPending && <Skeleton label="Loading chains" />}
        {chains.isError && (
          <ErrorState
            error={chains.error}
            title="The chains could not be listed"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void chains.refetch() }}
          />
        )}
        {chains.data?.chains.map((chain) => (
          <ChainPanel key={chain.chain_id} chain={chain} />
        ))}
        {chains.isSuccess && <Keys />}
      </div>
    </PageFrame>
  );
}

function ChainPanel({ chain }: { readonly chain: Chain }): ReactNode {
  const { chain_id: id, head_seq: head, last_checkpoint_seq: signed } = chain;
  const [verification, setVerification] = useState<Verification>();
  const verify = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/audit/chains/{chain_id}/verify", { path: { chain_id: id }, body: {} }),
    onSuccess: setVerification,
  });
  const exported = useMutation({
    async mutationFn() {
      const answer = await adminApi.send(`/v1/admin/audit/chains/${encodeURIComponent(id)}/export`);
      saveFile(await answer.blob(), "chain.jsonl");
    },
  });
  return (
    <Panel title={id}>
      <div className="grid gap-4">
        <Facts
          items={[
            ["Written by", chain.writer ?? "unknown"],
            ["Rows", head === 0 ? "none" : `${formatNumber(chain.first_seq)} to ${formatNumber(head)}`],
            [
              "Signed",
              <Badge key="signed" tone={signed === null ? "warn" : "good"}>
                {signed === null ? "not yet" : `up to ${formatNumber(signed)}`}
              </Badge>,
            ],
            ["Last written", formatRelative(chain.updated_at)],
            [
              "Head",
              <code key="head" className="text-xs break-all">
                {chain.head_hash}
              </code>,
            ],
          ]}
        />
        <div className="flex flex-wrap gap-3">
          <Button look="primary" busy={verify.isPending} onClick={() => verify.mutate()}>
            {verify.isPending ? `Hashing ${formatNumber(head)} rows…` : "Verify chain"}
          </Button>
          <Button busy={exported.isPending} onClick={() => exported.mutate()}>
            Export for an auditor
          </Button>
        </div>
        {verification !== undefined && (
          <>
            <VerificationView verification={verification} />
            <AcknowledgeFindings verification={verification} onDone={setVerification} />
          </>
        )}
        {verify.isError && <ErrorState error={verify.error} title="The chain could not be verified" requestLabel="Request" />}
        {exported.isError && <ErrorState error={exported.error} title="The chain could not be exported" requestLabel="Request" />}
      </div>
    </Panel>
  );
}

function Keys(): ReactNode {
  const keys = useQuery({ queryKey: ["audit-keys"], queryFn: () => adminApi.call("GET /v1/admin/audit/keys") });
  if (!keys.isSuccess) return null;
  return (
    <Panel title="Verify offline">
      <div className="grid gap-4">
        <p className="text-muted">
          An auditor needs only an exported chain and the public keys: no database, no network and no access to this gateway.
        </p>
        <p className="flex items-start gap-2">
          <code className="min-w-0 rounded bg-sunken px-3 py-2 text-xs break-all">{OFFLINE}</code>
          <CopyButton text={OFFLINE} label="Copy command" doneLabel="Copied" />
        </p>
        <Facts
          items={keys.data.keys.map(({ key_id: id, name, valid_from: from, valid_to: to }) => [
            `${name} ${id}`,
            `from ${formatDateInZone(from)}${to === null ? "" : ` to ${formatDateInZone(to)}`}`,
          ])}
        />
        <div>
          <Button onClick={() => saveFile(new Blob([keys.data.keys.map(({ public_key: key }) => `${key}\n`).join("")]), "public-keys.txt")}>
            Download the public keys
          </Button>
        </div>
      </div>
    </Panel>
  );
}
