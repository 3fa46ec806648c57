import { Button } from "@gatehouse/web-kit/button.tsx";
import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { DownloadButton } from "../download-button.tsx";
import { Allowed, useAllowed } from "../records/allowed.tsx";
import { SkillGroups } from "./skill-groups.tsx";
import { SkillImport } from "./skill-import.tsx";
import { SkillRuns } from "./skill-runs.tsx";
import { SkillTrial } from "./skill-trial.tsx";
import { versionQuery } from "./version-query.ts";

/** A skill's versions, their files and differences, who may use it, and its runs. */
export function SkillPanels({ id }: { readonly id: string }): ReactNode {
  const [shown, setShown] = useState<number | null>(null);
  const mayPublish = useAllowed()("POST /v1/admin/agent-skills/{id}/versions/{version}/publish");
  const queries = useQueryClient();
  const versions = useQuery({
    queryKey: ["skill", id, "versions"],
    queryFn: () => adminApi.call("GET /v1/admin/agent-skills/{id}/versions", { path: { id }, query: { page_size: 200 } }),
  });
  const publish = useMutation({
    mutationFn: (version: number) =>
      adminApi.call("POST /v1/admin/agent-skills/{id}/versions/{version}/publish", { path: { id, version: String(version) } }),
    async onSuccess(_answer, version) {
      await queries.invalidateQueries({ queryKey: ["records", "skills"] });
      await queries.invalidateQueries({ queryKey: ["skill", id] });
      showToast(`Version ${version} is served from the next call on.`);
    },
  });
  return (
    <>
      <Panel title="Versions">
        {versions.isPending && <Skeleton label="Loading" lines={2} />}
        {versions.isError && <ErrorState error={versions.error} title="The versions could not be read" requestLabel="Request" />}
        {publish.isError && <ErrorState error={publish.error} title="It was not published" requestLabel="Request" />}
        <ul className="grid gap-2">
          {versions.data?.versions.map(({ version, published, file_count: files, created_at: at, digest }) => (
            <li key={version} className="flex flex-wrap items-center gap-2">
              <span>Version {version}</span>
              {published && <Badge>served</Badge>}
              <span className="text-sm text-muted">
                {formatNumber(files)} {files === 1 ? "file" : "files"}, {formatRelative(at)}, <code>{digest.slice(0, 19)}…</code>
              </span>
              <Button aria-expanded={shown === version} onClick={() => setShown(shown === version ? null : version)}>
                Files of version {version}
              </Button>
              <DownloadButton
                path={`/v1/admin/agent-skills/${encodeURIComponent(id)}/versions/${version}/export`}
                fileName={`skill-version-${version}.zip`}
                label={`Download version ${version}`}
              >
                Download
              </DownloadButton>
              {!published && mayPublish && (
                <Button disabled={publish.isPending} onClick={() => publish.mutate(version)}>
                  Publish version {version}
                </Button>
              )}
            </li>
          ))}
        </ul>
        <p className="mt-3 text-sm">
          <Link to="/audit" search={{ type: "skill" }} className="text-accent underline">
            Calls of skills in the audit explorer
          </Link>
        </p>
      </Panel>
      {shown !== null && <VersionFiles id={id} version={shown} />}
      {shown !== null && (
        <Allowed operation="POST /v1/admin/agent-skills/{id}/versions/{version}/try">
          <SkillTrial key={shown} id={id} version={shown} />
        </Allowed>
      )}
      <SkillGroups id={id} />
      <Allowed operation="POST /v1/admin/proxy-logs/query">
        <SkillRuns id={id} />
      </Allowed>
      <SkillImport />
    </>
  );
}

/** A version's files, each with its change since the previous version. */
function VersionFiles({ id, version }: { readonly id: string; readonly version: number }): ReactNode {
  const own = useQuery(versionQuery(id, version));
  const before = useQuery({ ...versionQuery(id, version - 1), enabled: version > 1 });
  if (own.isPending || (version > 1 && before.isPending)) return <Skeleton label="Loading" lines={3} />;
  if (own.isError) return <ErrorState error={own.error} title="The files could not be read" requestLabel="Request" />;
  const earlier = new Map(before.data?.files.map(({ path, digest }) => [path, digest]));
  const now = new Set(own.data.files.map(({ path }) => path));
  const change = (path: string, digest: string) =>
    version === 1 || before.isError ? null : !earlier.has(path) ? "new" : earlier.get(path) === digest ? null : "changed";
  const gone = [...earlier.keys()].filter((path) => !now.has(path));
  return (
    <Panel title={`Files of version ${version}${version > 1 ? `, compared with version ${version - 1}` : ""}`}>
      {own.data.warnings.map((warning) => (
        <p key={warning} className="text-sm text-muted">
          {warning}
        </p>
      ))}
      <ul className="grid gap-1">
        {own.data.files.map(({ path, digest, size, executable }) => {
          const became = change(path, digest);
          return (
            <li key={path} className="flex flex-wrap items-center gap-2">
              <code>{path}</code>
              <span className="text-sm text-muted">{formatNumber(size)} bytes</span>
              {executable && <Badge>executable</Badge>}
              {became !== null && <Badge>{became}</Badge>}
            </li>
          );
        })}
        {gone.map((path) => (
          <li key={path} className="flex flex-wrap items-center gap-2">
            <code>{path}</code>
            <Badge>gone</Badge>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
