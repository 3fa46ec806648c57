import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

/** Saves the skill under the file name the gateway gives it. */
async function saveSkill({ id, name }: Named): Promise<void> {
  const response = await portalApi.send(`/v1/portal/skills/${encodeURIComponent(id)}/export`);
  const named = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  saveFile(await response.blob(), named ?? `${name}.zip`);
}

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
  action,
}: {
  readonly title: string;
  readonly empty: string;
  readonly items: readonly Named[];
  readonly action?: (item: Named) => ReactNode;
}): ReactNode {
  return (
    <Panel title={title}>
      {items.length === 0 && <p className="text-muted">{empty}</p>}
      <ul className="grid gap-3">
        {items.map((item) => (
          <li key={item.id} className="flex flex-wrap items-start justify-between gap-2">
            <div className="min-w-0 grow basis-48 wrap-anywhere">
              <p className="font-medium">{item.name}</p>
              {item.description !== null && <p className="text-muted">{item.description}</p>}
            </div>
            {action?.(item)}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function SkillDownload({ skill }: { readonly skill: Named }): ReactNode {
  const t = usePortalTexts();
  const save = useMutation({ mutationFn: saveSkill });
  return (
    <div className="grid justify-items-end gap-2">
      <Button icon={Download} aria-label={t("saveNamed", { name: skill.name })} busy={save.isPending} onClick={() => save.mutate(skill)}>
        {t("saveFile")}
      </Button>
      <FormError error={save.error} />
    </div>
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
          <NamedList
            title={t("skillsTitle")}
            empty={t("noSkills")}
            items={namedOf(skills.data.skills)}
            action={(skill) => <SkillDownload skill={skill} />}
          />
        </div>
      ) : (
        error === null && <Skeleton label={t("loading")} />
      )}
    </PageFrame>
  );
}
