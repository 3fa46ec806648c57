import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField, TextAreaField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { versionQuery } from "./version-query.ts";

/** Splits a command line into words; quoted words may contain spaces. */
const wordsOf = (text: string): string[] => [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** Runs a script of a version in the sandbox as a trial. */
export function SkillTrial({ id, version }: { readonly id: string; readonly version: number }): ReactNode {
  const files = useQuery(versionQuery(id, version));
  const scripts = files.data?.files.filter(({ path }) => path.startsWith("scripts/")).map(({ path }) => path) ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [args, setArgs] = useState("");
  const [stdin, setStdin] = useState("");
  const script = chosen ?? scripts[0] ?? "";
  const tried = useMutation({
    mutationFn: () =>
      adminApi.call("POST /v1/admin/agent-skills/{id}/versions/{version}/try", {
        path: { id, version: String(version) },
        body: { script, args: wordsOf(args), ...(stdin === "" ? {} : { stdin }) },
      }),
  });
  if (scripts.length === 0) return null;
  return (
    <Panel title={`Try a script of version ${version}`}>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          tried.mutate();
        }}
      >
        <p className="text-muted">It runs in the sandbox, with no file of anybody's. The admin log tells that it did.</p>
        <SelectField
          label="Script"
          value={script}
          choices={scripts.map((path) => ({ value: path, label: path }))}
          onChange={({ target }) => setChosen(target.value)}
        />
        <TextField label="Arguments" value={args} onChange={({ target }) => setArgs(target.value)} />
        <TextAreaField label="Standard input" rows={2} value={stdin} onChange={({ target }) => setStdin(target.value)} />
        <FormError error={tried.error} />
        <div>
          <Button type="submit" busy={tried.isPending}>
            Run script
          </Button>
        </div>
      </form>
      {tried.isSuccess && (
        <div role="status" className="mt-3 grid gap-2">
          <p className="flex flex-wrap items-center gap-2">
            <Badge tone={tried.data.end === "exited" && tried.data.exit_code === 0 ? "good" : "bad"}>
              {tried.data.end === "exited" ? `status ${tried.data.exit_code}` : tried.data.end.replaceAll("_", " ")}
            </Badge>
            <span className="text-sm text-muted">
              {formatNumber(tried.data.duration_ms)} ms, {tried.data.sandbox}
            </span>
          </p>
          <Printed title="What it printed" text={tried.data.stdout} />
          <Printed title="Its errors" text={tried.data.stderr} />
          {tried.data.files.map(({ name, size }) => (
            <p key={name} className="text-sm">
              It left <code>{name}</code>, {formatNumber(size)} bytes.
            </p>
          ))}
        </div>
      )}
    </Panel>
  );
}

function Printed({ title, text }: { readonly title: string; readonly text: string }): ReactNode {
  if (text === "") return null;
  return (
    <div>
      <h3 className="text-sm font-medium text-muted">{title}</h3>
      <pre tabIndex={0} className="max-h-80 overflow-auto text-sm whitespace-pre-wrap">
        {text}
      </pre>
    </div>
  );
}
