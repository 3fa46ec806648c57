import { Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

interface Named {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function namedOf(items: readonly Readonly<Record<string, unknown>>[]): readonly Named[] {
  return items.map(({ id, name, description }) => ({ id: textOf(id), name: textOf(name), description: textOf(description) || null }));
}

function NamedList({
  title,
  empty,
  items,
}: {
  readonly title: string;
  readonly empty: string;
  readonly items: readonly Named[];
}): ReactNode {
  return (
    <Panel title={title}>
      {items.length === 0 && <p className="text-muted">{empty}</p>}
      <ul className="grid gap-3">
        {items.map(({ id, name, description }) => (
          <li key={id}>
            <p className="font-medium">{name}</p>
            {description !== null && <p className="text-muted">{description}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function KnowledgePage(): ReactNode {
  const t = usePortalTexts();
  const bases = useQuery({ queryKey: ["knowledgebases"], queryFn: () => portalApi.call("GET /v1/portal/knowledgebases") });
  const skills = useQuery({ queryKey: ["skills"], queryFn: () => portalApi.call("GET /v1/portal/skills") });
  const error = bases.error ?? skills.error;
  return (
    <PageFrame product={t("product")} title={t("navKnowledge")}>
      {error !== null && <ErrorState error={error} title={t("unreadable")} requestLabel={t("request")} />}
      {bases.isSuccess && skills.isSuccess ? (
        <div className="grid gap-4 lg:grid-cols-2">
          <NamedList title={t("knowledgeTitle")} empty={t("noKnowledge")} items={namedOf(bases.data.collections)} />
          <NamedList title={t("skillsTitle")} empty={t("noSkills")} items={namedOf(skills.data.skills)} />
        </div>
      ) : (
        error === null && <Skeleton label={t("loading")} />
      )}
    </PageFrame>
  );
}
