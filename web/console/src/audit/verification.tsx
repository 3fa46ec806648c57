import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AdminApi } from "../api/admin-api.generated.ts";

type Verification = AdminApi["POST /v1/admin/audit/chains/{chain_id}/verify"]["answer"];

/** The result of verifying a chain or part of one, with its findings. */
export function VerificationView({ verification }: { readonly verification: Verification }): ReactNode {
  const { verdict, findings, findings_total: total, unacknowledged, rows_checked: rows, checkpoints_checked: checkpoints } = verification;
  return (
    <div className="grid gap-2">
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
        <Badge tone={verdict === "intact" ? "good" : verdict === "unanchored" ? "warn" : "bad"}>{verdict}</Badge>
        {formatNumber(rows)} rows and {formatNumber(checkpoints)} checkpoints checked
      </p>
      {total > 0 && (
        <p className="text-sm text-muted">
          {formatNumber(total)} {total === 1 ? "finding" : "findings"}, {formatNumber(unacknowledged)} not acknowledged
          {total > findings.length ? `. The first ${formatNumber(findings.length)} are listed, those not acknowledged first.` : ""}
        </p>
      )}
      {findings.length > 0 && (
        <ul className="grid max-h-[32rem] gap-1 overflow-y-auto text-sm" tabIndex={0} aria-label="Findings">
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
                  <Badge>acknowledged by {finding.acknowledged_by ?? "an administrator"}</Badge>
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
