import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { namespacedName, namespacedUri } from "./namespace.ts";

/** One item of a member server's list with its name on the virtual server. */
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

/** A member server's result with its resource URIs namespaced; null if it contains none. */
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
