import type { Capability } from "./capability.ts";

/**
 * Names of a virtual server's members: `{slug}__{name}` of tools and prompts, `{slug}+{uri}` of resources, and
 * `ui://{slug}__...` of the interfaces of apps, whose hosts know them by their scheme. A slug holds neither `_` nor `+`.
 */
const SEPARATOR = "__";
const UI = "ui://";

export function namespacedName(slug: string, name: string): string {
  return slug + SEPARATOR + name;
}

export function namespacedUri(slug: string, uri: string): string {
  return uri.startsWith(UI) ? `${UI}${slug}${SEPARATOR}${uri.slice(UI.length)}` : `${slug}+${uri}`;
}

/** The member a namespaced name belongs to, and the name as that member knows it. */
export function memberOf({ type, name }: Capability): { readonly slug: string; readonly capability: Capability } | null {
  if (type === "task") return null;
  const isUi = type === "resource" && name.startsWith(UI);
  const [separator, from] = type === "resource" && !isUi ? ["+", 0] : [SEPARATOR, isUi ? UI.length : 0];
  const at = name.indexOf(separator, from);
  if (at <= from) return null;
  const own = name.slice(at + separator.length);
  return { slug: name.slice(from, at), capability: { type, name: isUi ? UI + own : own } };
}
