import { MAX_URI_LENGTH, MAX_SUBSCRIPTIONS } from "../../kernel/operations/subscription-bounds.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** The changes a client subscribes to with `subscriptions/listen`. */
export interface ChangeFilter {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** URIs of individual resources. */
  readonly uris: readonly string[];
  /** Log messages of a session; only handshake servers send them. */
  readonly logs: boolean;
}

const METHODS = {
  "notifications/tools/list_changed": "tools",
  "notifications/prompts/list_changed": "prompts",
  "notifications/resources/list_changed": "resources",
} as const;

/** Null if the filter is invalid or names too many resources. */
export function readFilter(notifications: unknown): ChangeFilter | null {
  if (!isObject(notifications)) return null;
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions = [] } = notifications;
  if (!Array.isArray(resourceSubscriptions) || resourceSubscriptions.length > MAX_SUBSCRIPTIONS) return null;
  if (!resourceSubscriptions.every((uri): uri is string => typeof uri === "string" && uri.length <= MAX_URI_LENGTH)) return null;
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    uris: resourceSubscriptions,
    logs: false,
  };
}

export function writeFilter({ tools, prompts, resources, uris }: ChangeFilter): JsonObject {
  return {
    ...(tools ? { toolsListChanged: true } : {}),
    ...(prompts ? { promptsListChanged: true } : {}),
    ...(resources ? { resourcesListChanged: true } : {}),
    ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : {}),
  };
}

/** The part of the filter that a server with these capabilities supports. */
export function supportedChanges(filter: ChangeFilter, capabilities: Readonly<Record<string, unknown>>): ChangeFilter {
  const can = (name: string, what: string) => isObject(capabilities[name]) && capabilities[name][what] === true;
  return {
    tools: filter.tools && can("tools", "listChanged"),
    prompts: filter.prompts && can("prompts", "listChanged"),
    resources: filter.resources && can("resources", "listChanged"),
    uris: can("resources", "subscribe") ? filter.uris : [],
    logs: filter.logs && isObject(capabilities.logging),
  };
}

export function mergeFilters(filters: readonly ChangeFilter[]): ChangeFilter {
  return {
    tools: filters.some(({ tools }) => tools),
    prompts: filters.some(({ prompts }) => prompts),
    resources: filters.some(({ resources }) => resources),
    uris: [...new Set(filters.flatMap(({ uris }) => uris))],
    logs: filters.some(({ logs }) => logs),
  };
}

/** Notifications that everything in the filter may have changed. */
export function changeNotifications(filter: ChangeFilter): JsonObject[] {
  const lists = Object.entries(METHODS).filter(([, list]) => filter[list]);
  return [
    ...lists.map(([method]) => ({ jsonrpc: "2.0", method })),
    ...filter.uris.map((uri) => ({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } })),
  ];
}

/** Whether a message is a change within the filter. An update of a sub-resource counts as one of its resource. */
export function isWantedChange(filter: ChangeFilter, message: JsonObject): boolean {
  const list = METHODS[message.method as keyof typeof METHODS] as "tools" | "prompts" | "resources" | undefined;
  if (list !== undefined) return filter[list];
  if (message.method === "notifications/message") return filter.logs;
  const uri = message.method === "notifications/resources/updated" && isObject(message.params) ? message.params.uri : undefined;
  return typeof uri === "string" && filter.uris.some((wanted) => uri === wanted || uri.startsWith(`${wanted.replace(/\/$/, "")}/`));
}
