import { hash } from "node:crypto";

/** Members that the gateway finds out, or that follow from other records: who changes this one need not know of them. */
const NOT_ITS_OWN = new Set([
  ...["is_healthy", "health_checked_at", "last_used_at", "last_login", "member_count"],
  ...["inherited", "effective", "inherited_llm_limits", "effective_llm_limits", "capacity"],
]);

/** Two digests: of what is configured, to which If-Match is held, and of all that is shown, to which If-None-Match is. */
export function entityTag(record: unknown): string {
  const own = Object.entries(record as object).filter(([name]) => !NOT_ITS_OWN.has(name));
  return `"${digest(JSON.stringify(own))}.${digest(JSON.stringify(record))}"`;
}

function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

const configuredPart = (tag: string) => tag.split(".")[0];

/** Whether one of the tags of an If-Match header is that of the record; `*` is any record's. */
export function isMatched(header: string, tag: string): boolean {
  return header.trim() === "*" || header.split(",").some((one) => configuredPart(one.trim()) === configuredPart(tag));
}
