import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { tell } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";

/** The skills that callers of a group may use, granted to it or handed down to it. */
export function GroupSkills({ id }: { readonly id: string }): ReactNode {
  const [chosen, setChosen] = useState("");
  const queries = useQueryClient();
  const key = ["group", id, "skills"];
  const granted = useQuery({
    queryKey: key,
    queryFn: () => adminApi.call("GET /v1/admin/resource-groups/{id}/agent-skills", { path: { id }, query: { page_size: 200 } }),
  });
  const all = useQuery({
    queryKey: ["records", "skills", "grantable"],
    queryFn: () => adminApi.call("GET /v1/admin/agent-skills", { query: { page_size: 200 } }),
  });
  const settled = async (said: string) => {
    await queries.invalidateQueries({ queryKey: key });
    // The page of a skill says who may use it.
    await queries.invalidateQueries({ queryKey: ["skill"] });
    tell(said);
  };
  const bind = useMutation({
    mutationFn: (skill: string) =>
      adminApi.call("POST /v1/admin/resource-groups/{id}/agent-skills", { path: { id }, body: { skill_ids: [skill] } }),
    onSuccess: () => settled("Granted. It holds for the next call."),
  });
  const unbind = useMutation({
    mutationFn: (skill: string) =>
      adminApi.call("DELETE /v1/admin/resource-groups/{id}/agent-skills", { path: { id }, query: { skill_ids: skill } }),
    onSuccess: () => settled("Taken. It holds for the next call."),
  });
  const own = new Set(granted.data?.agent_skills.filter(({ inherited }) => !inherited).map((skill) => skill.id));
  const left = all.data?.agent_skills.filter((skill) => !own.has(skill.id)) ?? [];
  const failed = granted.error ?? bind.error ?? unbind.error;
  return (
    <Panel title="Skills it may use">
      {granted.isPending && <Skeleton label="Loading" lines={2} />}
      {failed !== null && <ErrorState error={failed} title="That did not go through" requestLabel="Request" />}
      {granted.data?.agent_skills.length === 0 && <p className="text-muted">None.</p>}
      <ul className="grid gap-2">
        {granted.data?.agent_skills.map(({ id: skill, name, inherited, bound_group_name: from, enabled, published_version: version }) => (
          <li key={skill} className="flex flex-wrap items-center gap-2">
            <Link to="/manage/$kind/$id" params={{ kind: "skills", id: skill }} className="text-accent underline">
              {name}
            </Link>
            {version === null && <Badge>not published</Badge>}
            {!enabled && <Badge>off</Badge>}
            {inherited ? (
              <Badge>from {from}</Badge>
            ) : (
              <Button disabled={unbind.isPending} onClick={() => unbind.mutate(skill)}>
                Take {name}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {left.length > 0 && (
        <form
          className="mt-3 flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (chosen !== "") bind.mutate(chosen);
            setChosen("");
          }}
        >
          <SelectField
            label="Skill to grant"
            value={chosen}
            onChange={({ target }) => setChosen(target.value)}
            choices={[{ value: "", label: "Choose one" }, ...left.map((skill) => ({ value: skill.id, label: skill.name }))]}
          />
          <Button type="submit" disabled={bind.isPending || chosen === ""}>
            Grant it
          </Button>
        </form>
      )}
    </Panel>
  );
}
