import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { SelectField, TextAreaField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Key = AdminApiSchemas["CollectorKey"];
type Tier = Key["trust_tier"];

const TIERS = [
  { value: "low", label: "low: one device, the first it names" },
  { value: "standard", label: "standard: devices that no other collector named" },
  { value: "high", label: "high: any device" },
] as const;
const KEYS = ["discovery", "collector-keys"] as const;

function KeyLine({ collector }: { readonly collector: Key }): ReactNode {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const revoke = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/discovery/collector-keys/{id}/revoke", { path: { id: collector.id } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: KEYS });
      setAsking(false);
    },
  });
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-3">
      <div className="grid gap-1">
        <strong>{collector.collector_id}</strong>
        <code className="text-xs break-all">{collector.id}</code>
        <span className="text-sm text-muted">
          {collector.trust_tier}, {collector.last_seen === null ? "never seen" : `seen ${formatRelative(collector.last_seen)}`}
        </span>
      </div>
      {collector.status === "revoked" ? (
        <Badge>revoked</Badge>
      ) : (
        <Allowed operation="POST /v1/admin/discovery/collector-keys/{id}/revoke">
          <Button onClick={() => setAsking(true)}>Revoke</Button>
        </Allowed>
      )}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Revoke the key of ${collector.collector_id}`}
        description="Nothing that it signs is taken any more. This cannot be undone."
        closeLabel="Cancel"
        confirmLabel="Revoke"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        <FormError error={revoke.error} />
      </ConfirmDialog>
    </li>
  );
}

function RegisterForm(): ReactNode {
  const queries = useQueryClient();
  const [collectorId, setCollectorId] = useState("");
  const [publicKey, setPublicKey] = useState("");
  const [tier, setTier] = useState<Tier>("low");
  const register = useMutation({
    mutationFn: () =>
      adminApi.call("POST /v1/admin/discovery/collector-keys", {
        body: { collector_id: collectorId.trim(), public_key: publicKey.trim(), trust_tier: tier },
      }),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: KEYS });
      setCollectorId("");
      setPublicKey("");
      showToast(`Registered. Its key id is ${id}.`);
    },
  });
  return (
    <form
      className="grid max-w-xl gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        register.mutate();
      }}
    >
      <TextField
        label="Collector id"
        value={collectorId}
        maxLength={100}
        error={fieldMessageOf(register.error, "collector_id")}
        onChange={({ target }) => setCollectorId(target.value)}
      />
      <TextAreaField
        label="Public key"
        hint={
          <>
            As <code>gatehouse scout key</code> prints it on the device.
          </>
        }
        value={publicKey}
        maxLength={1000}
        error={fieldMessageOf(register.error, "public_key")}
        onChange={({ target }) => setPublicKey(target.value)}
      />
      <SelectField label="Trust tier" value={tier} choices={TIERS} onChange={({ target }) => setTier(target.value as Tier)} />
      <FormError error={register.error} atFields={["collector_id", "public_key"]} />
      <div>
        <Button type="submit" look="primary" busy={register.isPending}>
          Register key
        </Button>
      </div>
    </form>
  );
}

/** Collectors that may report what they find on devices. */
export function Collectors(): ReactNode {
  const found = useInfiniteQuery({
    queryKey: KEYS,
    queryFn: ({ pageParam: page }) => adminApi.call("GET /v1/admin/discovery/collector-keys", { query: { page, page_size: 200 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const keys = found.data?.pages.flatMap((page) => page.collector_keys) ?? [];
  return (
    <Panel title="Collector keys">
      <div className="grid gap-4">
        {found.isPending && <Skeleton label="Loading" />}
        {found.isError && <ErrorState error={found.error} title="The collector keys could not be read" requestLabel="Request" />}
        {keys.length > 0 && (
          <ul className="grid gap-3">
            {keys.map((collector) => (
              <KeyLine key={collector.id} collector={collector} />
            ))}
          </ul>
        )}
        <MoreButton list={found} label="Show more keys" />
        <Allowed operation="POST /v1/admin/discovery/collector-keys">
          <RegisterForm />
        </Allowed>
      </div>
    </Panel>
  );
}
