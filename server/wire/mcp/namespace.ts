import { isObject, type JsonObject, type JsonValue } from "../document.ts";
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

/** One item of a member's list as the virtual server lists it. */
export function namespacedItem(slug: string, kind: "tools" | "prompts" | "resources" | "resourceTemplates", item: JsonObject): JsonObject {
  if (kind === "resources") return typeof item.uri === "string" ? { ...item, uri: namespacedUri(slug, item.uri) } : item;
  if (kind === "resourceTemplates")
    return typeof item.uriTemplate === "string" ? { ...item, uriTemplate: namespacedUri(slug, item.uriTemplate) } : item;
  return {
    ...item,
    name: namespacedName(slug, String(item.name)),
    ...(isObject(item._meta) ? { _meta: namespacedMeta(slug, item._meta) } : {}),
  };
}

function namespacedMeta(slug: string, meta: JsonObject): JsonObject {
  const flat = meta["ui/resourceUri"];
  return {
    ...meta,
    ...(typeof flat === "string" ? { "ui/resourceUri": namespacedUri(slug, flat) } : {}),
    ...(isObject(meta.ui) && typeof meta.ui.resourceUri === "string"
      ? { ui: { ...meta.ui, resourceUri: namespacedUri(slug, meta.ui.resourceUri) } }
      : {}),
  };
}

/** A member's result with the addresses of its resources as the virtual server knows them; null when it names none. */
export function namespacedResult(slug: string, result: JsonObject): JsonObject | null {
  let changed = false;
  const map = (item: JsonValue): JsonValue => {
    if (!isObject(item)) return item;
    if (typeof item.uri === "string" && (item.type === undefined || item.type === "resource_link")) {
      changed = true;
      return { ...item, uri: namespacedUri(slug, item.uri) };
    }
    if (isObject(item.resource)) return { ...item, resource: map(item.resource) };
    return isObject(item.content) ? { ...item, content: map(item.content) } : item;
  };
  const out: JsonObject = { ...result };
  for (const name of ["content", "contents", "messages"]) {
    const items = result[name];
    if (Array.isArray(items)) out[name] = items.map(map);
  }
  return changed ? out : null;
}
