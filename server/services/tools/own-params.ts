/**
 * How a member of the protocol is looked at. A handle (`handle`) is what a program gave out and gets back as it is, or one of the
 * protocol's own words: it is looked at where it has words in it. What a thing is called by (`name`), or where it is (`address`), cannot
 * be said differently, so it is refused where it would have to be. `aside` is what a program says of itself.
 */
export type ParamReading = "handle" | "name" | "address" | "aside" | "text";
export type ParamMembers = Readonly<Record<string, ParamReading>>;

const CURSOR = { cursor: "handle" } as const;
const NAME = { name: "name" } as const;
const URI = { uri: "address" } as const;
const TASK = { taskId: "handle" } as const;

/** The members that the protocol has in the params of a method, and in those of them that are objects. All else is whoever asks'. */
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
