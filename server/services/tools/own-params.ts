/**
 * How a member of the protocol is inspected. `handle`: an opaque value returned to its issuer, or a keyword; inspected only if it contains
 * words. `name` and `address`: identify something and cannot be rephrased, so the request is refused if they would have to be changed.
 * `aside`: what a program says about itself.
 */
export type ParamReading = "handle" | "name" | "address" | "aside" | "text";
export type ParamMembers = Readonly<Record<string, ParamReading>>;

const CURSOR = { cursor: "handle" } as const;
const NAME = { name: "name" } as const;
const URI = { uri: "address" } as const;
const TASK = { taskId: "handle" } as const;

/**
 * The protocol's own members in each method's params, and their members if they are objects. All other members are the caller's content.
 */
export const OWN_PARAMS: Readonly<Record<string, Readonly<Record<string, ParamReading | ParamMembers>>>> = {
  initialize: { protocolVersion: "handle", capabilities: "aside", clientInfo: "aside" },
  "tools/list": CURSOR,
  "tools/call": NAME,
  "prompts/list": CURSOR,
  "prompts/get": NAME,
  "resources/list": CURSOR,
  "resources/templates/list": CURSOR,
  "resources/read": URI,
  "resources/subscribe": URI,
  "resources/unsubscribe": URI,
  "resources/directory/read": { ...URI, ...CURSOR },
  "skills/list": CURSOR,
  "skills/get": URI,
  "completion/complete": {
    ref: { type: "handle", name: "name", title: "text", uri: "address" },
    argument: { name: "name", value: "text" },
    context: { arguments: "text" },
  },
  ping: {},
  "server/discover": {},
  "logging/setLevel": { level: "handle" },
  "subscriptions/listen": {
    notifications: {
      toolsListChanged: "handle",
      promptsListChanged: "handle",
      resourcesListChanged: "handle",
      resourceSubscriptions: "address",
      taskIds: "handle",
    },
    resourceSubscriptions: "address",
  },
  "tasks/list": CURSOR,
  "tasks/get": TASK,
  "tasks/result": TASK,
  "tasks/update": TASK,
  "tasks/cancel": TASK,
  "notifications/initialized": {},
  "notifications/roots/list_changed": {},
  "notifications/cancelled": { requestId: "handle", reason: "aside" },
  "notifications/progress": { progressToken: "handle", progress: "handle", total: "handle", message: "text" },
};
export const OF_EVERY_REQUEST: Readonly<Record<string, ParamReading | ParamMembers>> = {
  _meta: "aside",
  task: { ttl: "handle" },
  requestState: "handle",
};
