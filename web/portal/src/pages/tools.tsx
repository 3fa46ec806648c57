import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { Badge, Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Wrench } from "lucide-react";
import type { ReactNode } from "react";
import type { PortalToolServer } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { ToolServerConnection } from "../tools/tool-server-connection.tsx";
import { usePortalTexts } from "../translations.ts";

function ToolServerCard({ server }: { readonly server: PortalToolServer }): ReactNode {
  const t = usePortalTexts();
  const address = `${location.origin}/v1/proxy/mcp/${server.mcp_server.id}`;
  const about = server.display_description ?? server.description;
  return (
    <li>
      <Panel
        title={server.display_name ?? server.name}
        actions={server.enabled ? <Badge tone="good">{t("open")}</Badge> : <Badge>{t("off")}</Badge>}
      >
        <div className="grid gap-3">
          {about !== null && <p dir="auto">{about}</p>}
          {server.mcp_server.auth_type === "oauth" && <ToolServerConnection serverId={server.mcp_server.id} />}
          <p className="text-sm text-muted">{t("useInClient")}</p>
          <p className="-mt-2 flex items-center gap-1">
            <code className="min-w-0 font-mono text-sm break-all">{address}</code>
            <CopyButton text={address} label={t("copy")} doneLabel={t("copied")} />
          </p>
        </div>
      </Panel>
    </li>
  );
}

export function ToolsPage(): ReactNode {
  const t = usePortalTexts();
  const list = useQuery({ queryKey: ["servers"], queryFn: () => portalApi.call("GET /v1/portal/servers") });
  return (
    <PageFrame product={t("product")} title={t("navTools")} lead={t("toolsLead")}>
      {list.isPending && <Skeleton label={t("loading")} />}
      {list.isError && (
        <ErrorState
          error={list.error}
          title={t("unreadable")}
          requestLabel={t("request")}
          retry={{ label: t("tryAgain"), run: () => void list.refetch() }}
        />
      )}
      {list.isSuccess && list.data.servers.length === 0 && (
        <EmptyState icon={Wrench} title={t("noToolsTitle")}>
          {t("noTools")}
        </EmptyState>
      )}
      <ul className="grid gap-4 lg:grid-cols-2">
        {(list.data?.servers ?? []).map((server) => (
          <ToolServerCard key={server.id} server={server} />
        ))}
      </ul>
    </PageFrame>
  );
}
