import type { SessionCredential, SessionState } from "../../../directory/tools/session-state.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { MAX_URI_LENGTH, MAX_SUBSCRIPTIONS } from "../../../kernel/operations/subscription-bounds.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import { type ChangeFilter, readFilter, mergeFilters, writeFilter } from "../../../wire/mcp/changes.ts";
import { META } from "../../../wire/mcp/dialect.ts";
import { DEFAULT_LOG_LEVEL, logsAt } from "../../../wire/mcp/log-levels.ts";
import { resultText, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import { PASSED_STREAM } from "../../../wire/streams/stream.ts";
import type { Call } from "../../../road/call.ts";
import type { Answer } from "../../../road/answer.ts";
import type { Changes } from "./no-changes.ts";
import { KEEP_ALIVE, KEEP_ALIVE_MS, withKeepAlive } from "../answers/keep-alive.ts";
import { type Relay } from "../answers/relay.ts";
import { frameOf, SENDER } from "../answers/rpc-stream.ts";
import type { ToolParts } from "../tool-parts.ts";
import { EVENT_STREAM_HEADERS } from "../../../wire/streams/stream-headers.ts";

/** Subscribes to the servers behind a synthesized server: one `Changes` for each that can be reached. */
export type OpenChanges = (filter: ChangeFilter, sender: McpSender) => Promise<readonly Changes[] | Refusal>;

/** `subscriptions/listen`: first the granted filter, then every change with the request's ID. */
export async function* subscriptionStream(message: RpcMessage, sender: McpSender, open: OpenChanges): Relay {
  const filter = readFilter(message.params.notifications);
  if (filter === null)
    return refuse(
      "rpc_invalid_params",
      `params.notifications must say what to listen for, with at most ${MAX_SUBSCRIPTIONS} single resources of at most ${MAX_URI_LENGTH} characters.`,
    );
  const members = await open(filter, sender);
  if (isRefusal(members)) return members;
  const mark = { [META.subscription]: message.id };
  try {
    yield JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: writeFilter(mergeFilters(members.map(({ honoured }) => honoured))), _meta: mark },
    });
    for await (const change of merged(members)) {
      const params = isObject(change.params) ? change.params : {};
      yield JSON.stringify({ ...change, params: { ...params, _meta: { ...(isObject(params._meta) ? params._meta : {}), ...mark } } });
    }
  } finally {
    for (const member of members) member.close();
  }
  return resultText(message.id, JSON.stringify({ resultType: "complete", _meta: mark }));
}

/** The notification stream of a handshake-dialect session: changes of all lists and of subscribed resources, and log messages. */
export function sessionStream(
  call: Call,
  session: SessionCredential,
  sender: McpSender,
  open: OpenChanges,
  { sessionState }: Pick<ToolParts, "sessionState">,
): Answer {
  const changes = sessionChanges(call, session, sender, open, sessionState);
  const upstream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await changes.next();
        if (done === true) controller.close();
        else controller.enqueue(frameOf(JSON.stringify(value)));
      },
      // Not awaited: a read from a silent server ends only with the call.
      cancel() {
        void changes.return().catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  ).getReader();
  return {
    kind: "stream",
    status: 200,
    headers: EVENT_STREAM_HEADERS,
    upstream: withKeepAlive(upstream, KEEP_ALIVE_MS),
    codec: PASSED_STREAM,
    head: [KEEP_ALIVE],
    inputCharacters: null,
    sender: SENDER,
    endless: true,
  };
}

/**
 * Yields changes until the session ends. When the session's subscriptions change, new subscriptions are opened before the old ones are
 * closed, so that no change is missed meanwhile.
 */
async function* sessionChanges(
  call: Call,
  session: SessionCredential,
  sender: McpSender,
  open: OpenChanges,
  sessionState: SessionState,
): AsyncGenerator<JsonObject, void> {
  let resubscribe: () => void = () => undefined;
  const following = await sessionState.follow(session, () => resubscribe());
  const listened = async () => {
    const other = new Promise<void>((resolve) => {
      resubscribe = resolve;
    });
    return { members: await open({ tools: true, prompts: true, resources: true, uris: following.uris(), logs: true }, sender), other };
  };
  // While old and new subscriptions overlap, both receive log messages, which must be sent only once.
  const logged = new WeakSet<JsonObject>();
  const isNew = (change: JsonObject) => {
    if (change.method !== "notifications/message") return true;
    const isFirst = !logged.has(change);
    logged.add(change);
    return isFirst;
  };
  let last = listened();
  try {
    for (let current: typeof last | null = null; current !== last && !following.ended();) {
      current = last;
      const { members, other } = await current;
      if (isRefusal(members)) return;
      const letGo = () => closeAll(members);
      void other.then(() => {
        if (following.ended() || call.abort.signal.aborted) return letGo();
        last = listened();
        return last.then(letGo, letGo);
      });
      for await (const change of merged(members)) if (isNew(change) && (await isWanted(change, session, sessionState))) yield change;
    }
  } finally {
    following.stop();
    void last.then(({ members }) => closeAll(members)).catch(() => undefined);
  }
}

function closeAll(members: readonly Changes[] | Refusal): void {
  if (!isRefusal(members)) for (const member of members) member.close();
}

/** Filters log messages by the session's current log level. */
async function isWanted({ method, params }: JsonObject, session: SessionCredential, sessionState: SessionState): Promise<boolean> {
  return (
    method !== "notifications/message" ||
    logsAt(isObject(params) ? params.level : undefined, (await sessionState.statusOf(session)).level ?? DEFAULT_LOG_LEVEL)
  );
}

/**
 * Merges all streams in order of arrival. A stream is read again only after its last notification was consumed. Reads push into one queue,
 * because racing promises would retain every past value as long as one stream is silent.
 */
async function* merged(members: readonly Changes[]): AsyncGenerator<JsonObject, void> {
  const came: (() => Read)[] = [];
  let wake: () => void = () => undefined;
  const leave = (taken: () => Read) => {
    came.push(taken);
    wake();
  };
  const readOn = (member: Changes) =>
    void member.notifications.next().then(
      (step) => leave(() => ({ member, step })),
      (error: unknown) =>
        leave(() => {
          throw error;
        }),
    );
  members.forEach(readOn);
  for (let open = members.length; open > 0;) {
    const taken = came.shift();
    if (taken === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const { member, step } = taken();
    if (step.done === true) open--;
    else {
      readOn(member);
      yield step.value;
    }
  }
}

interface Read {
  readonly member: Changes;
  readonly step: IteratorResult<JsonObject, void>;
}
