/** URIs of the skills extension, `skill://<tenant>/<skill>/<path>` (SEP-2640). */
export interface SkillUri {
  readonly tenant: string;
  readonly skill: string;
  /** The path within the skill without trailing slash; empty for its root folder. */
  readonly path: string;
}

const SCHEME = "skill://";

export function skillUri(tenant: string, skill: string, path: string): string {
  return SCHEME + [tenant, skill, ...path.split("/")].map(encodeURIComponent).join("/");
}

/** Null if the text is not such a URI. */
export function skillUriOf(text: string): SkillUri | null {
  if (!text.startsWith(SCHEME)) return null;
  try {
    const [tenant, skill, ...path] = text.slice(SCHEME.length).replace(/\/$/, "").split("/").map(decodeURIComponent);
    return tenant === undefined || skill === undefined || skill === "" ? null : { tenant, skill, path: path.join("/") };
  } catch {
    return null;
  }
}
