/** Addresses of the extension for skills, `skill://<tenant>/<skill>/<path>` (SEP-2640). */
export interface SkillUri {
  readonly tenant: string;
  readonly skill: string;
  /** Within the skill, without a slash at its end; empty of the skill's own folder. */
  readonly path: string;
}

const SCHEME = "skill://";

export function skillUri(tenant: string, skill: string, path: string): string {
  return SCHEME + [tenant, skill, ...path.split("/")].map(encodeURIComponent).join("/");
}

/** Null for what is no such address. */
export function skillUriOf(text: string): SkillUri | null {
  if (!text.startsWith(SCHEME)) return null;
  try {
    const [tenant, skill, ...path] = text.slice(SCHEME.length).replace(/\/$/, "").split("/").map(decodeURIComponent);
    return tenant === undefined || skill === undefined || skill === "" ? null : { tenant, skill, path: path.join("/") };
  } catch {
    return null;
  }
}
