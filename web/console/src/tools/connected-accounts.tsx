import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Account = AdminApiSchemas["ConnectedAccount"];

/** Whose accounts are shown: those at a tool server, or a person's. */
export interface AccountsOf {
  readonly kind: "tool-servers" | "people";
  readonly id: string;
}

const PAGE = 50;
const KEY = ["connected-accounts"] as const;

const read = ({ kind, id }: AccountsOf, page: number) =>
  kind === "people"
    ? adminApi.call("GET /v1/admin/end-users/{id}/connected-accounts", { path: { id }, query: { page, page_size: PAGE } })
    : adminApi.call("GET /v1/admin/mcp-servers/{id}/connected-accounts", { path: { id }, query: { page, page_size: PAGE } });

/** User accounts at tool servers that calls are made with, each with a button to disconnect it. */
export function ConnectedAccounts({ of, mayEnd }: { readonly of: AccountsOf; readonly mayEnd: boolean }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: [...KEY, of.kind, of.id],
    queryFn: ({ pageParam }) => read(of, pageParam),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE < total ? page + 1 : undefined),
  });
  const accounts = found.data?.pages.flatMap((page) => page.connected_accounts) ?? [];
  return (
    <Panel title="Connected accounts">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The connected accounts could not be read" requestLabel="Request" />}
      {found.isSuccess && accounts.length === 0 && <p className="text-muted">No account is connected.</p>}
      {accounts.length > 0 && (
        <ul className="grid gap-3">
          {accounts.map((account) => (
            <AccountLine key={account.id} account={account} of={of} mayEnd={mayEnd} />
          ))}
        </ul>
      )}
      <MoreButton list={found} label="Show more" />
    </Panel>
  );
}

function AccountLine({ account, of, mayEnd }: { readonly account: Account; readonly of: AccountsOf; readonly mayEnd: boolean }): ReactNode {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const owner = account.principal_name ?? account.principal_id;
  const end = useMutation({
    mutationFn: () =>
      adminApi.call("DELETE /v1/admin/mcp-servers/{id}/connected-accounts/{account_id}", {
        path: { id: account.mcp_server_id, account_id: account.id },
      }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: KEY });
      showToast("Disconnected. No call uses this account any more.");
    },
  });
  const renewed = account.has_refresh_token ? "renewed without its owner" : "until its token ends";
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-3 first:border-t-0 first:pt-0">
      <div className="grid gap-1">
        <strong className="break-all">
          {of.kind === "people" ? (
            <Link to="/manage/$kind/$id" params={{ kind: "tool-servers", id: account.mcp_server_id }} className="text-accent underline">
              {account.mcp_server_name}
            </Link>
          ) : (
            `${account.principal_type === "user" ? "" : "API key "}${owner}`
          )}
        </strong>
        <span className="text-sm break-all text-muted">
          {account.issuer}, connected {formatRelative(account.created_at)}, {renewed}
        </span>
        {account.scopes.length > 0 && <span className="text-sm break-all text-muted">May: {account.scopes.join(" ")}</span>}
      </div>
      {mayEnd && <Button onClick={() => setAsking(true)}>End</Button>}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`End the account of ${owner} at ${account.mcp_server_name}?`}
        description="Calls stop using this account, and its issuer is notified. It can be connected again."
        closeLabel="Cancel"
        confirmLabel="Disconnect"
        busy={end.isPending}
        onConfirm={() => end.mutate()}
      >
        <FormError error={end.error} />
      </ConfirmDialog>
    </li>
  );
}
