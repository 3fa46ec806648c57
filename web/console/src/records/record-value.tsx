import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import type { ReactNode } from "react";
import type { RecordKind } from "./record-kind.ts";
import { recordKind } from "./record-kinds.ts";
import { useReferenceNames } from "./reference-names.ts";

/** A member of a record as one reads it. */
export function RecordValue({
  kind,
  member,
  value,
}: {
  readonly kind: RecordKind;
  readonly member: string;
  readonly value: unknown;
}): ReactNode {
  const reference = recordKind(kind.references?.[member]);
  if (value == null || value === "") return <span className="text-muted">none</span>;
  if (reference !== undefined) return <Referred kind={reference} ids={Array.isArray(value) ? value.map(String) : [String(value)]} />;
  if (typeof value === "boolean") return <Badge tone={value ? "good" : "neutral"}>{value ? "yes" : "no"}</Badge>;
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "string") return member.endsWith("_at") ? formatDate(value) : value;
  if (Array.isArray(value)) {
    const names = value.map((item) =>
      typeof item === "string"
        ? item
        : typeof item === "object" && item !== null
          ? String((item as Record<string, unknown>)["name"] ?? "")
          : String(item),
    );
    return value.length === 0 ? (
      <span className="text-muted">none</span>
    ) : names.every((name) => name !== "") ? (
      names.join(", ")
    ) : (
      formatNumber(value.length)
    );
  }
  return <code className="text-xs break-all">{JSON.stringify(value)}</code>;
}

function Referred({ kind, ids }: { readonly kind: RecordKind; readonly ids: readonly string[] }): ReactNode {
  const nameOf = useReferenceNames(kind, ids);
  return ids.length === 0 ? <span className="text-muted">none</span> : ids.map((id) => nameOf(id) ?? id).join(", ");
}
