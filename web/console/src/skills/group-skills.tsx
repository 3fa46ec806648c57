import { Button } from "@gatehouse/web-kit/button.tsx";
import { ComboboxField } from "@gatehouse/web-kit/combobox.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { useAllowed } from "../records/allowed.tsx";
import { useChoices } from "../records/choices.ts";
import { type GroupOfPanels, NarrowerRules, rulesOfSkill } from "../records/narrower-rules.tsx";
import { referenceTo, shownName } from "../records/records-client.ts";
import { SKILLS } from "../records/tool-kinds.ts";

const PAGE_SIZE = 200;

/** The skills that a group's callers may use, granted or inherited. */
export function GroupSkills(group: GroupOfPanels): ReactNode {
  const { id } = group;
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const isAllowed = useAllowed();
  const queries = useQueryClient();
  const key = ["group", id, "skills"];
  const found = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/resource-groups/{id}/agent-skills", { path: { id }, query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE_SIZE < total ? page + 1 : undefined),
  });
  const granted = found.data?.pages.flatMap((page) => page.agent_skills) ?? [];
  const choices = useChoices(SKILLS, chosen === null ? [] : [chosen], text);
  const settled = async (message: string) => {
    await queries.invalidateQueries({ queryKey: key });
    // The skill's page shows who may use it.
    await queries.invalidateQueries({ queryKey: ["skill"] });
    showToast(message);
  };
  const bind = useMutation({
    mutationFn: (skill: string) =>
      adminApi.call("POST /v1/admin/resource-groups/{id}/agent-skills", { path: { id }, body: { skill_ids: [skill] } }),
    onSuccess: () => settled("Granted. Takes effect with the next call."),
  });
  const unbind = useMutation({
    mutationFn: (skill: string) =>
      adminApi.call("DELETE /v1/admin/resource-groups/{id}/agent-skills", { path: { id }, query: { skill_ids: skill } }),
    onSuccess: () => settled("Removed. Takes effect with the next call."),
  });
  const own = new Set(granted.filter(({ inherited }) => !inherited).map((skill) => skill.id));
  const left = choices.items
    .map((record) => ({ value: referenceTo(SKILLS, record), label: shownName(SKILLS, record) }))
    .filter(({ value }) => !own.has(value));
  const failed = found.error ?? bind.error ?? unbind.error;
  return (
    <Panel title="Skills">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {failed !== null && <ErrorState error={failed} title="The change failed" requestLabel="Request" />}
      {found.isSuccess && granted.length === 0 && <p className="text-muted">None.</p>}
      <ul className="grid gap-2">
        {granted.map(({ id: skill, name, inherited, bound_group_name: from, enabled, published_version: version }) => (
          <li key={skill} className="flex flex-wrap items-center gap-2">
            <Link to="/manage/$kind/$id" params={{ kind: "skills", id: skill }} className="text-accent underline">
              {name}
            </Link>
            {version === null && <Badge>not published</Badge>}
            {!enabled && <Badge>off</Badge>}
            {inherited ? (
              <Badge>from {from}</Badge>
            ) : !isAllowed("DELETE /v1/admin/resource-groups/{id}/agent-skills") ? null : (
              <Button disabled={unbind.isPending} onClick={() => unbind.mutate(skill)}>
                Remove {name}
              </Button>
            )}
            <NarrowerRules
              group={group}
              name={name}
              about={rulesOfSkill({ id: skill, name })}
              mayChange={isAllowed("PATCH /v1/admin/resource-groups/{id}/agent-skills/{skill_id}/limits")}
            />
          </li>
        ))}
      </ul>
      <MoreButton list={found} label="More skills" />
      {choices.items.length > 0 && isAllowed("POST /v1/admin/resource-groups/{id}/agent-skills") && (
        <form
          className="mt-3 flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (chosen !== null) bind.mutate(chosen);
            setChosen(null);
          }}
        >
          <ComboboxField
            label="Skill to grant"
            items={left}
            value={chosen}
            onChange={setChosen}
            onSearch={setText}
            emptyLabel={choices.isPending ? "Loading" : "There is no such skill to grant"}
            openLabel="Show each skill"
          />
          <Button type="submit" disabled={bind.isPending || chosen === null}>
            Grant
          </Button>
        </form>
      )}
    </Panel>
  );
}
