import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { AgentGrantList } from "./agent-grant-list.tsx";
import { AgentTaskList } from "./agent-task-list.tsx";
import { CardChanges } from "./card-changes.tsx";

type Members = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? (value as readonly Members[]) : []);
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

const SIGNATURE_TONES = { verified: "good", failed: "bad", unverified: "warn", unsigned: "neutral" } as const;
const BINDINGS = { http_json: "HTTP+JSON", jsonrpc: "JSON-RPC" } as const;

/** An agent's card and protocol, changes to the card, its grants, and its tasks. */
export function AgentPanels({ id }: { readonly id: string }): ReactNode {
  const read = useQuery({
    queryKey: ["records", "agents", "panels", id],
    queryFn: () => adminApi.call("GET /v1/admin/agents/{id}", { path: { id } }),
  });
  if (read.isPending) return <Skeleton label="Loading" lines={4} />;
  if (read.isError) return <ErrorState error={read.error} title="The agent could not be read" requestLabel="Request" />;
  const { upstream_card: card, published_card: published, skills_allowed: allowed, card_signature: signature } = read.data;
  const skills = listOf(card?.["skills"]);
  return (
    <>
      <Panel title="Its card">
        {card === null ? (
          <p className="text-muted">No card was taken over yet. {signature?.detail}</p>
        ) : (
          <Facts
            items={[
              ["It says of itself", `${textOf(card["name"])}, version ${textOf(card["version"])}. ${textOf(card["description"])}`],
              [
                "It is spoken to in",
                `A2A ${read.data.protocol_version ?? ""} over ${read.data.dialect === null ? "" : BINDINGS[read.data.dialect]} at ${read.data.endpoint_url ?? ""}`,
              ],
              [
                "Callers speak to it in",
                listOf(published?.["supportedInterfaces"])
                  .map(
                    ({ protocolBinding, protocolVersion, url }) =>
                      `A2A ${textOf(protocolVersion)} over ${textOf(protocolBinding)} at ${textOf(url)}`,
                  )
                  .join("; "),
              ],
              ["Found", read.data.discovered_at === null ? "" : formatDate(read.data.discovered_at)],
              [
                "Signature",
                <span key="signature" className="flex flex-wrap items-center gap-2">
                  <Badge tone={SIGNATURE_TONES[signature?.status ?? "unsigned"]}>{signature?.status ?? "not looked at"}</Badge>
                  {signature?.detail}
                  {signature?.kid != null && <code>{signature.kid}</code>}
                </span>,
              ],
              [
                "Skills",
                <ul key="skills" className="grid gap-1">
                  {skills.map((skill) => (
                    <li key={textOf(skill["id"])} className="flex flex-wrap items-center gap-2">
                      <code>{textOf(skill["id"])}</code>
                      <span>{textOf(skill["description"]) || textOf(skill["name"])}</span>
                      {allowed !== null && !allowed.includes(textOf(skill["id"])) && <Badge>not allowed</Badge>}
                    </li>
                  ))}
                </ul>,
              ],
            ]}
          />
        )}
      </Panel>
      <CardChanges id={id} />
      <AgentGrantList id={id} />
      <AgentTaskList id={id} />
    </>
  );
}
