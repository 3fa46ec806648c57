import { recordName } from "@gatehouse/contracts/conventions";

/** Why this cannot be the name of a record; null if it can. */
export function whyNoName(text: string): string | null {
  const { error } = recordName.safeParse(text);
  return error === undefined
    ? null
    : (error.issues[0]?.message ?? "cannot be one here").replace(/^Too big.*/, "is longer than 200 characters");
}

/** A key for a record: lower-case letters, digits and inner . _ - */
export function keyFor(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, 60)
    .replace(/[^a-z0-9]+$/, "");
  return slug === "" ? "imported" : slug;
}

export function variableOf(text: string): string {
  return text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}
