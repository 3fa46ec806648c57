import { Button } from "@gatehouse/web-kit/button.tsx";
import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeySquare } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";
import { Allowed } from "../records/allowed.tsx";

type SigningKey = AdminApiSchemas["AgentSigningKey"];

const QUERY_KEY = ["agent-signing-keys"];
const DAY = 86_400;
const OVERLAPS = [
  { value: String(7 * DAY), label: "for a week" },
  { value: String(DAY), label: "for a day" },
  { value: String(3_600), label: "for an hour" },
  { value: "0", label: "no longer: it may be known to others" },
];

function KeyPanel({ signing }: { readonly signing: SigningKey }): ReactNode {
  const { kid, public_key: publicKey, created_at: made, retires_at: retires } = signing;
  return (
    <li>
      <Panel
        title={kid}
        actions={retires === null ? <Badge tone="good">signs</Badge> : <Badge>{`signs until ${formatDate(retires)}`}</Badge>}
      >
        <Facts
          items={[
            ["Made", formatDate(made)],
            [
              "Public key (Ed25519)",
              <span key="key" className="flex flex-wrap items-center gap-2">
                <code className="break-all">{publicKey}</code>
                <CopyButton label="Copy the public key" doneLabel="Copied" text={publicKey} />
              </span>,
            ],
          ]}
        />
      </Panel>
    </li>
  );
}

function Rotation(): ReactNode {
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState(OVERLAPS[0]?.value ?? "");
  const [asking, setAsking] = useState(false);
  const rotate = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/agent-signing-keys/rotate", { body: { overlap_seconds: Number(overlap) } }),
    async onSuccess() {
      showToast("Cards are signed with a new key");
      await queries.invalidateQueries({ queryKey: QUERY_KEY });
    },
  });
  return (
    <Panel title="Rotate">
      <div className="grid gap-4">
        <p className="text-muted">A new key signs from now on. Clients that read the key set meanwhile verify cards with either.</p>
        <SelectField
          label="The key before signs beside it"
          value={overlap}
          choices={OVERLAPS}
          onChange={({ target }) => setOverlap(target.value)}
        />
        <FormError error={rotate.error} />
        <div>
          <Button busy={rotate.isPending} onClick={() => setAsking(true)}>
            Rotate the key
          </Button>
        </div>
        <ConfirmDialog
          open={asking}
          onClose={() => setAsking(false)}
          title="Sign with a new key?"
          description="Clients that keep keys of their own have to be given the new one."
          closeLabel="Cancel"
          confirmLabel="Rotate the key"
          onConfirm={() => {
            setAsking(false);
            rotate.mutate();
          }}
        />
      </div>
    </Panel>
  );
}

/** The keys that sign the tenant's agent cards. */
export function AgentSigningKeysPage(): ReactNode {
  const found = useQuery({ queryKey: QUERY_KEY, queryFn: () => adminApi.call("GET /v1/admin/agent-signing-keys") });
  const keys = found.data?.keys ?? [];
  return (
    <PageFrame
      product={PRODUCT}
      title="Card signing keys"
      lead="What the cards of agents that the gateway publishes are signed with."
      width="reading"
    >
      <div className="grid gap-4">
        {found.isPending && <Skeleton label="Loading" lines={4} />}
        {found.isError && <ErrorState error={found.error} title="The signing keys could not be read" requestLabel="Request" />}
        {found.isSuccess && keys.length === 0 && (
          <EmptyState icon={KeySquare} title="No key yet">
            The first is made with the first agent.
          </EmptyState>
        )}
        <ul className="grid gap-4">
          {keys.map((signing) => (
            <KeyPanel key={signing.kid} signing={signing} />
          ))}
        </ul>
        {found.isSuccess && (
          <Allowed operation="POST /v1/admin/agent-signing-keys/rotate">
            <Rotation />
          </Allowed>
        )}
      </div>
    </PageFrame>
  );
}
