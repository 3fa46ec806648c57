import { Panel } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { DownloadButton } from "../download-button.tsx";
import { Allowed } from "../records/allowed.tsx";

const linkClass = "inline-block min-h-6 text-accent underline";

/** Links to what the gateway stores about a person, for access and erasure requests. */
export function PersonData({ id, username }: { readonly id: string; readonly username: string }): ReactNode {
  return (
    <Panel title="This person's data">
      <div className="grid gap-3">
        <p className="text-muted">
          For a subject access request: the account record below, and the audit rows of their calls, which the audit explorer exports as
          JSON Lines or CSV.
        </p>
        <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
          <DownloadButton
            path={`/v1/admin/end-users/${encodeURIComponent(id)}`}
            fileName={`person-${username.replaceAll(/[^\w.-]/g, "_")}.json`}
          >
            Download account record
          </DownloadButton>
          <Allowed operation="POST /v1/admin/proxy-logs/query">
            <Link to="/audit" search={{ where: { gateway_user_id: id } } as never} className={linkClass}>
              Their calls in the audit explorer
            </Link>
          </Allowed>
          <Allowed operation="POST /v1/admin/data-erasure">
            <Link to="/erasure" className={linkClass}>
              Erase their data
            </Link>
          </Allowed>
        </div>
      </div>
    </Panel>
  );
}

/** Exports all people of the tenant as a file. */
export function PeopleExport(): ReactNode {
  return (
    <>
      <DownloadButton path="/v1/admin/end-users/export/csv" fileName="end-users.csv">
        Export CSV
      </DownloadButton>
      <DownloadButton path="/v1/admin/end-users/export/json" fileName="end-users.json">
        Export JSON
      </DownloadButton>
    </>
  );
}
