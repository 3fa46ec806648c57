import { Button } from "@gatehouse/web-kit/button.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { adminApi } from "../admin-client.ts";
import { useAllowed } from "../records/allowed.tsx";

/** Imports a ZIP with a SKILL.md as a new skill, or as the next version of the skill with its name. */
export function SkillImport(): ReactNode {
  const queries = useQueryClient();
  const chosen = useRef<HTMLInputElement>(null);
  const mayImport = useAllowed()("POST /v1/admin/agent-skills/import");
  const send = useMutation({
    mutationFn: (file: File) => {
      const body = new FormData();
      body.set("file", file);
      return adminApi.call("POST /v1/admin/agent-skills/import", { body });
    },
    async onSuccess({ skill, version, created }) {
      await queries.invalidateQueries({ queryKey: ["records", "skills"] });
      await queries.invalidateQueries({ queryKey: ["skill"] });
      const named = `${skill.name}, version ${version.version}`;
      showToast(
        created ? `${named} is imported. It is served once it is published and granted.` : `${named} has these very files already.`,
      );
    },
  });
  if (!mayImport) return null;
  return (
    <Panel title="Import">
      <p className="mb-3 text-sm text-muted">
        A ZIP with SKILL.md at its root or in its one folder. A skill of the same name gets its next version.
      </p>
      {send.isError && <ErrorState error={send.error} title="It was not imported" requestLabel="Request" />}
      <input
        ref={chosen}
        type="file"
        accept=".zip,.skill,application/zip"
        aria-label="ZIP of a skill"
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) send.mutate(file);
          target.value = "";
        }}
      />
      <Button icon={Upload} disabled={send.isPending} onClick={() => chosen.current?.click()}>
        Import a ZIP
      </Button>
    </Panel>
  );
}
