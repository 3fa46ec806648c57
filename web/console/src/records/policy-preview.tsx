import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { memberLabel } from "./api-schema.ts";

type PolicyPreview = AdminApi["POST /v1/admin/resource-groups/{id}/llm-global-limits/preview"]["answer"];

const fieldLabel = (path: string) => path.split(".").map(memberLabel).join(", ");
const shown = (value: unknown): string => (value === null ? "nothing" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** The effect of a document before it is saved. */
export function PolicyPreviewView({ preview }: { readonly preview: PolicyPreview }): ReactNode {
  const more = preview.changes_total - preview.changes.length;
  return (
    <div role="status" className="grid gap-3 rounded-lg bg-sunken p-3 text-sm">
      {preview.spent.map((limit) => (
        <p key={limit.limit_type} className="flex flex-wrap items-center gap-2">
          <Badge tone={limit.blocks ? "bad" : "warn"}>{limit.blocks ? "blocks at once" : "warns at once"}</Badge>
          {memberLabel(limit.limit_type)}: {formatNumber(limit.current)} of {formatNumber(limit.limit)} are used already
          {limit.resets_at === null ? "" : `, anew ${formatRelative(limit.resets_at)}`}
        </p>
      ))}
      {preview.changes.length === 0 && <p>No effective value would change.</p>}
      {preview.changes.length > 0 && (
        <ul className="grid gap-1">
          {preview.changes.map((change) => (
            <li key={`${change.group_id} ${change.item_id ?? ""} ${change.field}`} className="flex flex-wrap items-center gap-2">
              <Link to="/manage/$kind/$id" params={{ kind: "resource-groups", id: change.group_id }} className="text-accent underline">
                {change.group_name}
              </Link>
              <span>
                {fieldLabel(change.field)}
                {change.item_id === null ? "" : ` of ${change.item_id}`}: {shown(change.before)} → {shown(change.after)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p>{formatNumber(more)} more.</p>}
    </div>
  );
}
