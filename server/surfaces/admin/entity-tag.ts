import { hash } from "node:crypto";

/** Members that the gateway finds out and nobody sets: who holds a record to change it need not know of them. */
const OBSERVED = ["is_healthy", "health_checked_at", "last_used_at", "last_login"];

/** Two digests: of what is configured, to which If-Match is held, and of all that is shown, to which If-None-Match is. */
export function entityTag(record: unknown): string {
  const configured = JSON.stringify(record, (name, value: unknown) => (OBSERVED.includes(name) ? undefined : value));
  return `"${digest(configured)}.${digest(JSON.stringify(record))}"`;
}

function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

const configuredPart = (tag: string) => tag.split(".")[0];

/** Whether one of the tags of an If-Match header is that of the record; `*` is any record's. */
export function isMatched(header: string, tag: string): boolean {
  return header.trim() === "*" || tagsOf(header).some((one) => configuredPart(one) === configuredPart(tag));
}

/** The same of an If-None-Match header, for which a weak tag is as good. */
export function isNoneOther(header: string, tag: string): boolean {
  return header.trim() === "*" || tagsOf(header.replaceAll("W/", "")).includes(tag);
}

function tagsOf(header: string): string[] {
  return header.split(",").map((one) => one.trim());
}
