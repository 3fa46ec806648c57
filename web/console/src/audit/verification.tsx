import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AdminApi } from "../api/admin-api.generated.ts";

type Verification = AdminApi["POST /v1/admin/audit/chains/{chain_id}/verify"]["answer"];

/** What the verification of a chain, or a part of one, came to, and where it fails. */
export function VerificationView({ verification }: { readonly verification: Verification }): ReactNode {
  const { verdict, findings, rows_checked: rows, checkpoints_checked: checkpoints } = verification;
  return (
    <div className="grid gap-2">
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
        <Badge tone={verdict === "intact" ? "good" : verdict === "unanchored" ? "warn" : "bad"}>{verdict}</Badge>
        {formatNumber(rows)} rows and {formatNumber(checkpoints)} checkpoints looked at
      </p>
      {findings.length > 0 && (
        <ul className="grid gap-1 text-sm">
          {findings.map((finding) => (
            <li key={finding.id}>
              {finding.verdict} at {finding.chain_seq}: {finding.detail}{" "}
              {finding.row_id !== null && (
                <Link to="/audit" search={{ row: finding.row_id } as never} className="text-accent underline">
                  Open the row
                </Link>
              )}
              {finding.acknowledged_at !== null && (
                <p className="flex flex-wrap items-center gap-2 break-words text-muted">
                  <Badge>known to {finding.acknowledged_by ?? "an administrator"}</Badge>
                  {formatRelative(finding.acknowledged_at)}: {finding.note}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
