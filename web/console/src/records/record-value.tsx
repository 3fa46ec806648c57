import { formatDateInZone, formatNumber, formatPrice } from "@gatehouse/web-kit/formats.ts";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import type { ReactNode } from "react";
import type { RecordKind } from "./record-kind.ts";
import { recordKind } from "./record-kinds.ts";
import { useReferenceNames } from "./reference-names.ts";

/** What an empty member means, if more than "none". */
const EMPTY: readonly (readonly [member: RegExp, meaning: string])[] = [
  [/^(?:expires_at|last_\w+_at|last_login|synced_at)$/, "never"],
  [/^ended_at$/, "not yet"],
  [/^is_healthy$/, "not checked"],
  [/^allowed_regions$/, "any"],
  [/(?:(?:^|_)cost_per_|^image_cost$|^price_per_)/, "no price"],
];
const DOLLARS = /(?:(?:^|_)cost_per_|^image_cost$|_usd$)/;

/** A timestamp as the API writes it. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function Empty({ kind, member, value }: { readonly kind: RecordKind; readonly member: string; readonly value: unknown }): ReactNode {
  const meaning = (value === null ? kind.nulls?.[member] : undefined) ?? EMPTY.find(([of]) => of.test(member))?.[1] ?? "none";
  return <span className="text-muted">{meaning}</span>;
}

/** A member's value formatted for reading. */
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
  if (value == null || value === "" || (Array.isArray(value) && value.length === 0))
    return <Empty kind={kind} member={member} value={value} />;
  if (reference !== undefined) return <Referred kind={reference} ids={Array.isArray(value) ? value.map(String) : [String(value)]} />;
  if (typeof value === "boolean") return <Badge tone={value ? "good" : "neutral"}>{value ? "yes" : "no"}</Badge>;
  if (typeof value === "number") return DOLLARS.test(member) ? formatPrice(value) : formatNumber(value);
  if (typeof value === "string") return MOMENT.test(value) ? formatDateInZone(value) : value;
  if (Array.isArray(value)) {
    const names = value.map((item) =>
      typeof item === "string"
        ? item
        : typeof item === "object" && item !== null
          ? String((item as Record<string, unknown>)["name"] ?? "")
          : String(item),
    );
    return names.every((name) => name !== "") ? names.join(", ") : formatNumber(value.length);
  }
  return <code className="text-xs break-all">{JSON.stringify(value)}</code>;
}

function Referred({ kind, ids }: { readonly kind: RecordKind; readonly ids: readonly string[] }): ReactNode {
  const nameOf = useReferenceNames(kind, ids);
  return ids.map((id) => nameOf(id) ?? id).join(", ");
}
