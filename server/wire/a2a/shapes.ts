import { isRawJson } from "../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/**
 * The A2A v1.0 objects as the gateway reads them from either side. Known members are copied by name and unknown ones
 * dropped, so that no receiver takes an uninspected member, in another spelling, for an inspected one.
 */

/** Thrown for an object that the protocol does not allow; `field` is the path to the problem. */
export class Malformed extends Error {
  readonly field: string;
  readonly problem: string;
  constructor(field: string, problem: string) {
    super(field === "" ? problem : `${field} ${problem}`);
    this.name = "Malformed";
    this.field = field;
    this.problem = problem;
  }
}

export const TERMINAL_STATES: ReadonlySet<string> = new Set([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
]);
export const INTERRUPTED_STATES: ReadonlySet<string> = new Set(["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"]);
export const TASK_STATES: ReadonlySet<string> = new Set([
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  ...TERMINAL_STATES,
  ...INTERRUPTED_STATES,
]);
const BEGINNING: readonly string[] = ["TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED"];
const NOT_ENDED = [...TASK_STATES].filter((state) => !TERMINAL_STATES.has(state));

/** The states a task cannot return to from `state`, and those from which it cannot reach `state`. */
export function statesAround(state: string): { readonly earlier: readonly string[]; readonly later: readonly string[] } {
  if (TERMINAL_STATES.has(state)) return { earlier: NOT_ENDED, later: [] };
  return { earlier: BEGINNING.includes(state) ? [] : BEGINNING, later: [...TERMINAL_STATES] };
}

const ROLES: ReadonlySet<string> = new Set(["ROLE_USER", "ROLE_AGENT"]);

type Reader = (value: JsonValue, at: string) => JsonValue | undefined;
type Members = Readonly<Record<string, readonly [Reader, "required" | "optional"]>>;

const MAX_ID_LENGTH = 512;
/** Maximum nesting of objects and arrays. */
const MAX_DEPTH = 64;

const text: Reader = (value, at) => {
  if (typeof value !== "string") throw new Malformed(at, "must be a string");
  return value;
};
const id: Reader = (value, at) => {
  if (typeof value !== "string") throw new Malformed(at, "must be a string");
  if (value === "") return undefined;
  if (value.length > MAX_ID_LENGTH || !/^[^\p{Cc}\p{Cs}]+$/u.test(value))
    throw new Malformed(at, "must be at most 512 printable characters");
  return value;
};
/** An empty string counts as absent, as in the protocol's protobuf encoding. */
const word: Reader = (value, at) => (text(value, at) === "" ? undefined : value);
const flag: Reader = (value, at) => {
  if (typeof value !== "boolean") throw new Malformed(at, "must be true or false");
  return value;
};
const count: Reader = (value, at) => {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < 0 || number > 1_000_000_000)
    throw new Malformed(at, "must be a whole number from 0");
  return number;
};
const oneOf =
  (known: ReadonlySet<string>): Reader =>
  (value, at) => {
    if (typeof value !== "string" || !known.has(value)) throw new Malformed(at, `must be one of ${[...known].join(", ")}`);
    return value;
  };
const words: Reader = (value, at) => {
  if (!Array.isArray(value)) throw new Malformed(at, "must be an array of strings");
  return value.length === 0 ? undefined : value.map((one, index) => text(one, `${at}.${index}`) as string);
};
const anything: Reader = (value, at) => {
  refuseDepth(value, at, MAX_DEPTH);
  return value;
};
const struct: Reader = (value, at) => {
  if (!isObject(value) || isRawJson(value)) throw new Malformed(at, "must be an object");
  return anything(value, at);
};
const timestamp: Reader = (value, at) => {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) || Number.isNaN(Date.parse(value)))
    throw new Malformed(at, "must be a time as ISO 8601 has it");
  return value;
};
const base64: Reader = (value, at) => {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw new Malformed(at, "must be base64");
  return value;
};
const all =
  (one: Reader, least = 0): Reader =>
  (value, at) => {
    if (!Array.isArray(value)) throw new Malformed(at, "must be an array");
    if (value.length < least) throw new Malformed(at, "must not be empty");
    return value.map((item, index) => one(item, `${at}.${index}`) as JsonValue);
  };
const within =
  (members: () => Members): Reader =>
  (value, at) =>
    shaped(members(), value, at);

function refuseDepth(value: JsonValue | undefined, at: string, left: number): void {
  if (typeof value !== "object" || value === null || isRawJson(value)) return;
  if (left === 0) throw new Malformed(at, "is nested too deep");
  for (const member of Object.values(value)) refuseDepth(member, at, left - 1);
}

const originalNames = new Map<string, string>();

function originalName(name: string): string {
  let found = originalNames.get(name);
  if (found === undefined) originalNames.set(name, (found = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)));
  return found;
}

/**
 * Reads a member by its JSON name or by its original field name (`task_id`), as ProtoJSON parsers and the official servers
 * do. Throws `Malformed` if both are present, because receivers could read either.
 */
export function namedMember(value: JsonObject, name: string, at = name): JsonValue | undefined {
  const original = originalName(name);
  if (original === name || value[original] === undefined) return value[name];
  if (value[name] !== undefined) throw new Malformed(at, `stands there as ${original} as well`);
  return value[original];
}

function shaped(members: Members, value: JsonValue | undefined, at: string): JsonObject {
  if (!isObject(value) || isRawJson(value)) throw new Malformed(at, "must be an object");
  const made: JsonObject = {};
  for (const [name, [read, presence]] of Object.entries(members)) {
    const field = at === "" ? name : `${at}.${name}`;
    const member = namedMember(value, name, field);
    // ProtoJSON may write an unset field as null; for a data part, null is a value.
    const found = member === undefined || (member === null && read !== anything) ? undefined : read(member, field);
    if (found !== undefined) made[name] = found;
    else if (presence === "required") throw new Malformed(field, "is required");
  }
  return made;
}

const CONTENT = ["text", "raw", "url", "data"] as const;
const PART: Members = {
  text: [text, "optional"],
  raw: [base64, "optional"],
  url: [text, "optional"],
  data: [anything, "optional"],
  metadata: [struct, "optional"],
  filename: [word, "optional"],
  mediaType: [word, "optional"],
};
const part: Reader = (value, at) => {
  const made = shaped(PART, value, at);
  if (CONTENT.filter((name) => name in made).length !== 1) throw new Malformed(at, "must have exactly one of text, raw, url and data");
  return made;
};
const MESSAGE: Members = {
  messageId: [id, "required"],
  contextId: [id, "optional"],
  taskId: [id, "optional"],
  role: [oneOf(ROLES), "required"],
  parts: [all(part, 1), "required"],
  metadata: [struct, "optional"],
  extensions: [words, "optional"],
  referenceTaskIds: [words, "optional"],
};
/** An agent's status message may have no parts; a caller's message must have some. */
const SAID: Members = { ...MESSAGE, parts: [all(part), "required"] };
const ARTIFACT: Members = {
  artifactId: [id, "required"],
  name: [word, "optional"],
  description: [word, "optional"],
  parts: [all(part), "required"],
  metadata: [struct, "optional"],
  extensions: [words, "optional"],
};
const STATUS: Members = {
  state: [oneOf(TASK_STATES), "required"],
  message: [within(() => SAID), "optional"],
  timestamp: [timestamp, "optional"],
};
const TASK: Members = {
  id: [id, "required"],
  contextId: [id, "optional"],
  status: [within(() => STATUS), "required"],
  artifacts: [all(within(() => ARTIFACT)), "optional"],
  history: [all(within(() => SAID)), "optional"],
  metadata: [struct, "optional"],
};
const STATUS_UPDATE: Members = {
  taskId: [id, "required"],
  contextId: [id, "optional"],
  status: [within(() => STATUS), "required"],
  metadata: [struct, "optional"],
};
const ARTIFACT_UPDATE: Members = {
  taskId: [id, "required"],
  contextId: [id, "optional"],
  artifact: [within(() => ARTIFACT), "required"],
  append: [flag, "optional"],
  lastChunk: [flag, "optional"],
  metadata: [struct, "optional"],
};
const AUTHENTICATION: Members = { scheme: [word, "required"], credentials: [word, "optional"] };
const PUSH_CONFIG: Members = {
  id: [id, "optional"],
  taskId: [id, "optional"],
  url: [word, "required"],
  token: [word, "optional"],
  authentication: [within(() => AUTHENTICATION), "optional"],
};
const CONFIGURATION: Members = {
  acceptedOutputModes: [words, "optional"],
  taskPushNotificationConfig: [within(() => PUSH_CONFIG), "optional"],
  historyLength: [count, "optional"],
  returnImmediately: [flag, "optional"],
};
const SEND: Members = {
  message: [within(() => MESSAGE), "required"],
  configuration: [within(() => CONFIGURATION), "optional"],
  metadata: [struct, "optional"],
};

export const readSendRequest = (value: JsonValue): JsonObject => shaped(SEND, value, "");
export const readPushConfig = (value: JsonValue): JsonObject => shaped(PUSH_CONFIG, value, "");
export const readTask = (value: JsonValue, at = "task"): JsonObject => shaped(TASK, value, at);

const EVENTS = { task: TASK, message: SAID, statusUpdate: STATUS_UPDATE, artifactUpdate: ARTIFACT_UPDATE } as const satisfies Readonly<
  Record<string, Members>
>;
export type EventKind = keyof typeof EVENTS;

/** An event of a stream, or the answer to a message: an object whose only member names its kind. */
export interface AgentEvent {
  readonly kind: EventKind;
  readonly value: JsonObject;
}

export function readEvent(
  value: JsonValue | undefined,
  kinds: readonly EventKind[] = ["task", "message", "statusUpdate", "artifactUpdate"],
): AgentEvent {
  if (!isObject(value)) throw new Malformed("", "must be an object");
  const named = kinds
    .map((kind) => [kind, namedMember(value, kind)] as const)
    .filter(([, member]) => member !== undefined && member !== null);
  const [found] = named;
  if (found === undefined || named.length > 1) throw new Malformed("", `must have exactly one of ${kinds.join(", ")}`);
  const [kind, member] = found;
  return { kind, value: shaped(EVENTS[kind], member, kind) };
}

export const eventObject = ({ kind, value }: AgentEvent): JsonObject => ({ [kind]: value });

/** The state of a task object. */
export function stateOf(task: JsonObject): string {
  return isObject(task.status) && typeof task.status.state === "string" ? task.status.state : "TASK_STATE_UNSPECIFIED";
}
