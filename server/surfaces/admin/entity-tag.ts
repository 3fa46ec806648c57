import { hash } from "node:crypto";

/** Members that the gateway determines, or that depend on other records: somebody changing this record need not know them. */
const NOT_ITS_OWN = new Set([
  ...["is_healthy", "health_checked_at", "last_used_at", "last_login", "member_count"],
  ...["inherited", "effective", "inherited_llm_limits", "effective_llm_limits", "capacity"],
]);

/** Two digests: of the configured members, for If-Match, and of everything shown, for If-None-Match. */
export function entityTag(record: unknown): string {
  const own = Object.entries(record as object).filter(([name]) => !NOT_ITS_OWN.has(name));
  return `"${digest(JSON.stringify(own))}.${digest(JSON.stringify(record))}"`;
}

function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

const configuredPart = (tag: string) => tag.split(".")[0];

/** Whether a tag of an If-Match header matches the record's; `*` matches any. */
export function isMatched(header: string, tag: string): boolean {
  return header.trim() === "*" || header.split(",").some((one) => configuredPart(one.trim()) === configuredPart(tag));
}
