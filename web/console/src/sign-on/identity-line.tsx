import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

export const IDENTITIES_KEY = ["linked-identities"] as const;

/** One linked subject. `heading` is what the page does not show already: the provider or the account. */
export function IdentityLine({
  provider,
  identity,
  accountName,
  mayUnlink,
  children,
}: {
  readonly provider: { readonly id: string; readonly name: string };
  readonly identity: AdminApiSchemas["SignOnIdentity"];
  readonly accountName: string;
  readonly mayUnlink: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const { subject, username, email } = identity;
  const names = [username, email === username ? null : email].filter((one) => one !== null);
  const unlink = useMutation({
    mutationFn: () =>
      adminApi.call("DELETE /v1/admin/identity-providers/{id}/identities", { path: { id: provider.id }, query: { subject } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: IDENTITIES_KEY });
      showToast(`Unlinked. It signs in as ${accountName} no more.`);
    },
  });
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-3 first:border-t-0 first:pt-0">
      <div className="grid min-w-0 gap-1">
        <strong className="break-all">{children}</strong>
        <span className="text-sm break-all text-muted">
          Known there by <code className="font-mono">{subject}</code>
        </span>
        <span className="text-sm break-words text-muted">
          {names.length > 0 && <bdi>{names.join(", ")}</bdi>}
          {names.length > 0 && ", "}
          linked {formatRelative(identity.created_at)},{" "}
          {identity.last_login === null ? "never signed in by it" : `signed in ${formatRelative(identity.last_login)}`}
        </span>
      </div>
      {mayUnlink && <Button onClick={() => setAsking(true)}>Unlink</Button>}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Unlink ${accountName} from ${provider.name}?`}
        description="It signs in as this account no more, and the account is signed out everywhere. Where a directory keeps the account under this key, the next sign-in links it again."
        closeLabel="Cancel"
        confirmLabel="Unlink"
        busy={unlink.isPending}
        onConfirm={() => unlink.mutate()}
      >
        <FormError error={unlink.error} />
      </ConfirmDialog>
    </li>
  );
}
