import { Button, buttonClass } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";

const EXPORTS = [
  { format: "csv", label: "CSV", file: "assets.csv" },
  { format: "cyclonedx", label: "CycloneDX", file: "assets.cdx.json" },
] as const;

async function download({ format, file }: (typeof EXPORTS)[number]): Promise<void> {
  const answer = await adminApi.send(`/v1/admin/assets/export?format=${format}`);
  saveFile(await answer.blob(), file);
}

/** The registry of all assets, with synchronization and export. */
export function Registry(): ReactNode {
  const queries = useQueryClient();
  const sync = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/assets/sync"),
    async onSuccess({ added, changed, gone, total }) {
      await queries.invalidateQueries({ queryKey: ["records", "assets"] });
      showToast(`${formatNumber(total)} assets: ${formatNumber(added)} new, ${formatNumber(changed)} changed, ${formatNumber(gone)} gone.`);
    },
  });
  const give = useMutation({ mutationFn: download });
  return (
    <Panel title="Registry of assets">
      <div className="flex flex-wrap gap-2">
        <Allowed operation="POST /v1/admin/assets/sync">
          <Button busy={sync.isPending} onClick={() => sync.mutate()}>
            Update registry
          </Button>
        </Allowed>
        <Link to="/manage/$kind" params={{ kind: "assets" }} className={buttonClass()}>
          Open it
        </Link>
        {EXPORTS.map((one) => (
          <Button key={one.format} busy={give.isPending} onClick={() => give.mutate(one)}>
            Export as {one.label}
          </Button>
        ))}
      </div>
      <FormError error={sync.error ?? give.error} />
    </Panel>
  );
}
