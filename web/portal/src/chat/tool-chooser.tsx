import { Button } from "@gatehouse/web-kit/button.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Wrench } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { PortalToolServer } from "../api/portal-records.ts";
import { usePortalTexts } from "../translations.ts";
import { serverTools } from "./use-tool-servers.ts";

interface ToolChooserProps {
  readonly servers: readonly PortalToolServer[];
  readonly chosen: readonly string[];
  readonly onChange: (serverIds: readonly string[]) => void;
}

/** Shows the tools of a chosen server: people must see what a model may do before they ask it. */
function ToolsOfServer({ server }: { readonly server: PortalToolServer }): ReactNode {
  const t = usePortalTexts();
  const tools = useQuery(serverTools(server));
  if (tools.isPending) return <Skeleton label={t("loading")} lines={1} />;
  if (tools.isError)
    return (
      <ErrorState
        error={tools.error}
        title={t("unreadable")}
        requestLabel={t("request")}
        retry={{ label: t("tryAgain"), run: () => void tools.refetch() }}
      />
    );
  return (
    <ul className="grid gap-1 text-sm">
      {tools.data
        .filter(({ forModel }) => forModel)
        .map(({ tool, description }) => (
          <li key={tool} className="min-w-0">
            <span className="font-mono break-all">{tool}</span>{" "}
            <span dir="auto" className="text-muted">
              {description.slice(0, 200)}
            </span>
          </li>
        ))}
    </ul>
  );
}

export function ToolChooser({ servers, chosen, onChange }: ToolChooserProps): ReactNode {
  const t = usePortalTexts();
  const [open, setOpen] = useState(false);
  const known = servers.filter(({ mcp_server: { id } }) => chosen.includes(id));
  if (servers.length === 0) return null;
  return (
    <>
      <Button look="quiet" icon={Wrench} onClick={() => setOpen(true)}>
        {known.length === 0 ? t("navTools") : t("toolsChosen", { count: known.length })}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t("chatTools")} description={t("chatToolsLead")} closeLabel={t("close")}>
        <ul className="grid gap-4">
          {servers.map((server) => {
            const { id } = server.mcp_server;
            const isChosen = chosen.includes(id);
            return (
              <li key={server.id} className="grid gap-2">
                <label className="flex min-h-8 items-center gap-3 font-medium">
                  <input
                    type="checkbox"
                    className="size-5 accent-accent"
                    checked={isChosen}
                    onChange={() => onChange(isChosen ? chosen.filter((other) => other !== id) : [...chosen, id])}
                  />
                  <span dir="auto" className="min-w-0 break-words">
                    {server.display_name ?? server.name}
                  </span>
                </label>
                {isChosen && <ToolsOfServer server={server} />}
              </li>
            );
          })}
        </ul>
      </Dialog>
    </>
  );
}
