import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { type ApiRecord, askRecords, documentQuery } from "../records/records-client.ts";

type OAuthClient = AdminApiSchemas["McpOAuthClient"];
const PATH = "/v1/admin/mcp-servers/{id}/oauth-client";

/** Null if no client was entered. */
const read = (id: string): Promise<OAuthClient | null> =>
  adminApi.call(`GET ${PATH}`, { path: { id } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });

/** The gateway's client registration at a tool server's authorization server, for servers where it cannot register itself. */
export function OwnOAuthClient({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({ queryKey: ["oauth-client", id], queryFn: () => read(id) });
  return (
    <Panel title="Its authorization server">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The client could not be read" requestLabel="Request" />}
      {found.isSuccess && (
        <div className="grid gap-4">
          {found.data === null ? (
            <p className="text-muted">
              The gateway becomes a client there by itself. Where the authorization server does not let it, make a client there and enter it
              here.
            </p>
          ) : (
            <Entered client={found.data} />
          )}
          <Allowed operation={`PUT ${PATH}`}>
            <details>
              <summary className="min-h-6 cursor-pointer text-sm font-medium">
                {found.data === null ? "Enter a client" : "Enter another client"}
              </summary>
              <div className="mt-4">
                <ClientForm key={found.data?.updated_at ?? ""} id={id} client={found.data} />
              </div>
            </details>
          </Allowed>
        </div>
      )}
    </Panel>
  );
}

function Entered({ client }: { readonly client: OAuthClient }): ReactNode {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { mcp_server_id: id, idp_server_id: idp, scopes } = client;
  const remove = useMutation({
    mutationFn: () => adminApi.call(`DELETE ${PATH}`, { path: { id } }),
    async onSuccess() {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: ["oauth-client", id] });
      showToast("Client removed.");
    },
  });
  return (
    <>
      <Facts
        items={[
          ["Issuer", client.issuer],
          ["Client ID", client.client_id],
          ["Secret", client.has_client_secret ? `stored, sent by ${client.token_endpoint_auth_method}` : "none: a public client"],
          ["Scopes", scopes === null ? "those that the tool server names" : scopes.join(" ")],
          [
            "To enter there as redirect address",
            <span key="redirect">
              <code className="break-all">{`/v1/proxy/oauth/${id}/${idp}/callback`}</code> behind the gateway&apos;s own address
            </span>,
          ],
        ]}
      />
      <Allowed operation={`DELETE ${PATH}`}>
        <div>
          <Button onClick={() => setAsking(true)}>Remove</Button>
        </div>
      </Allowed>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Remove this client?"
        description="Its secret is deleted. Accounts can then be connected only where the gateway registers itself as a client."
        closeLabel="Cancel"
        confirmLabel="Remove"
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <FormError error={remove.error} />
      </ConfirmDialog>
    </>
  );
}

function ClientForm({ id, client }: { readonly id: string; readonly client: OAuthClient | null }): ReactNode {
  const queries = useQueryClient();
  const api = useQuery(documentQuery);
  const enter = useMutation({
    mutationFn: (value: ApiRecord) => askRecords("PUT", PATH.replace("{id}", encodeURIComponent(id)), value),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["oauth-client", id] });
      showToast("Entered. Accounts are connected with it from now on.");
    },
  });
  const schema = api.isSuccess ? bodySchema(api.data, "PUT", PATH) : null;
  if (!api.isSuccess || schema === null) return null;
  const known = Object.entries(client ?? {}).filter(([member]) => member in (schema.properties ?? {}));
  return (
    <RecordForm
      document={api.data}
      schema={schema}
      references={{}}
      initial={Object.fromEntries(known)}
      submitLabel="Enter the client"
      busy={enter.isPending}
      error={enter.error}
      onSubmit={(value) => enter.mutate(value)}
      asksToLeave
    />
  );
}
