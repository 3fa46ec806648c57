import type { Capability } from "./capability.ts";

/**
 * Names of a virtual server's members: `{slug}__{name}` for tools and prompts, `{slug}+{uri}` for resources, and
 * `ui://{slug}__...` for app interfaces, which clients recognize by their scheme. A slug contains neither `_` nor `+`.
 */
const SEPARATOR = "__";
const UI = "ui://";

export function namespacedName(slug: string, name: string): string {
  return slug + SEPARATOR + name;
}

export function namespacedUri(slug: string, uri: string): string {
  return uri.startsWith(UI) ? `${UI}${slug}${SEPARATOR}${uri.slice(UI.length)}` : `${slug}+${uri}`;
}

/** The member server that a namespaced name belongs to, and the name on that server; null if it is not namespaced. */
export function memberOf({ type, name }: Capability): { readonly slug: string; readonly capability: Capability } | null {
  if (type === "task") return null;
  const isUi = type === "resource" && name.startsWith(UI);
  const [separator, from] = type === "resource" && !isUi ? ["+", 0] : [SEPARATOR, isUi ? UI.length : 0];
  const at = name.indexOf(separator, from);
  if (at <= from) return null;
  const own = name.slice(at + separator.length);
  return { slug: name.slice(from, at), capability: { type, name: isUi ? UI + own : own } };
}
