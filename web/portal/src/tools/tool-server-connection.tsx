import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { Button, buttonClass } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { useMutation, useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";
import { mcpRequest } from "./mcp-request.ts";

interface HeldTokens {
  readonly broker: string;
  readonly ids: readonly string[];
}

/** The person's connections at the server's authorization server, held by the broker. */
async function heldTokens(serverId: string): Promise<HeldTokens> {
  const metadata = await portalApi.send(`/v1/proxy/mcp/${serverId}/.well-known/oauth-protected-resource`);
  const { authorization_servers: brokers } = (await metadata.json()) as { authorization_servers?: readonly string[] };
  const broker = new URL(brokers?.[0] ?? "/", location.origin).pathname;
  const held = await portalApi.send(`${broker}/tokens`);
  const { tokens = [] } = (await held.json()) as { tokens?: readonly { readonly id: string }[] };
  return { broker, ids: tokens.map(({ id }) => id) };
}

/**
 * The URL where the person authorizes the gateway to use their account, taken from the refusal of a call without it; null if there is none.
 */
async function connectAddress(serverId: string): Promise<string | null> {
  try {
    await mcpRequest({ serverId, method: "tools/list" });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const address = /"connect_url":\s*"([^"]+)"/.exec(JSON.stringify(error.body))?.[1];
    // Only URLs of this gateway are followed.
    const found = address === undefined ? null : new URL(address, location.origin);
    if (found === null || !found.pathname.startsWith("/v1/proxy/oauth/")) throw error;
    return found.pathname + found.search;
  }
}

export function ToolServerConnection({ serverId }: { readonly serverId: string }): ReactNode {
  const t = usePortalTexts();
  const held = useQuery({ queryKey: ["held-tokens", serverId], queryFn: () => heldTokens(serverId) });
  const find = useMutation({ mutationFn: () => connectAddress(serverId), onSuccess: (address) => address === null && held.refetch() });
  const disconnect = useMutation({
    mutationFn: async ({ broker, ids }: HeldTokens) => {
      for (const id of ids) await portalApi.send(`${broker}/tokens/${id}`, { method: "DELETE" });
    },
    onSuccess: () => held.refetch(),
  });
  const connected = (held.data?.ids.length ?? 0) > 0;
  return (
    <div className="grid gap-2 rounded-lg bg-sunken p-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={connected ? "good" : "neutral"}>{connected ? t("connected") : t("notConnected")}</Badge>
        {connected && held.data !== undefined ? (
          <Button busy={disconnect.isPending} onClick={() => disconnect.mutate(held.data)}>
            {t("disconnect")}
          </Button>
        ) : find.data == null ? (
          <Button look="primary" busy={find.isPending} onClick={() => find.mutate()}>
            {t("authorize")}
          </Button>
        ) : (
          <a href={find.data} target="_blank" rel="noopener" className={buttonClass("primary")}>
            {t("authorize")}
            <ExternalLink aria-hidden size={16} />
          </a>
        )}
      </div>
      {!connected && <p className="text-sm text-muted">{t("connectLead")}</p>}
      <FormError error={find.error ?? disconnect.error} />
    </div>
  );
}
