import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import { type ChangeFilter, readFilter, supportedChanges, isWantedChange, writeFilter } from "../../../wire/mcp/changes.ts";
import type { Call } from "../../../road/call.ts";
import { openExchange, sessionOwner } from "../forwarding/server-exchange.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { type AskSubscription, subscribe, unsubscribe } from "./resource-subscriptions.ts";
import { type Changes, noChanges, NO_CHANGES } from "./no-changes.ts";
import { joinFeed } from "./session-feed.ts";
import { pooledSession, versionOf } from "../sessions/session-pool.ts";
import { takesSubscription } from "./taken-subscription.ts";
import { wantedNotifications } from "./wanted-notifications.ts";
import type { ToolParts } from "../tool-parts.ts";
import { withinSilence } from "../forwarding/within-silence.ts";

/** Subscribes to a server on behalf of the call, until closed or the call ends. A refusal if the server cannot be reached. */
export async function openChanges(
  call: Call,
  server: ToolServerEntry,
  filter: ChangeFilter,
  sender: McpSender,
  parts: ToolParts,
): Promise<Changes | Refusal> {
  return server.dialect === "stateless"
    ? statelessChanges(call, server, filter, sender, parts)
    : handshakeChanges(call, server, filter, sender, parts);
}

async function statelessChanges(
  call: Call,
  server: ToolServerEntry,
  filter: ChangeFilter,
  sender: McpSender,
  parts: ToolParts,
): Promise<Changes | Refusal> {
  const wanted = { ...supportedChanges(filter, server.capabilities), logs: false };
  if (!asksForSomething(wanted)) return noChanges(call);
  const params = JSON.stringify({ notifications: writeFilter(wanted) });
  const exchange = await openExchange(
    call,
    server,
    { method: "subscriptions/listen", params, capability: null, arguments: undefined, sender: { ...sender, logLevel: null }, id: "listen" },
    parts,
  );
  if (isRefusal(exchange)) return exchange;
  const first = await withinSilence(exchange, server.timeoutMs, () => 0).catch(() => null);
  if (first === "silent") return refuse("upstream_timeout", "The tool server did not say in time whether it can be listened to.");
  const acknowledged = first?.value?.value;
  if (acknowledged?.method !== "notifications/subscriptions/acknowledged" || !isObject(acknowledged.params)) {
    exchange.abort.abort("not_listened_to");
    return noChanges(call);
  }
  return {
    honoured: readFilter(acknowledged.params.notifications) ?? NO_CHANGES,
    notifications: wantedNotifications(exchange, wanted),
    close: () => exchange.abort.abort("nobody_listens"),
  };
}

async function handshakeChanges(
  call: Call,
  server: ToolServerEntry,
  filter: ChangeFilter,
  sender: McpSender,
  parts: ToolParts,
): Promise<Changes | Refusal> {
  const credentials = await parts.credentials.headersFor(call, server);
  if (isRefusal(credentials)) return credentials;
  const unrecorded = recordTarget(call, server.url, null, parts);
  if (unrecorded !== null) return unrecorded;
  const join = async () => {
    const session = await pooledSession(
      server,
      {
        owner: await sessionOwner(call, server, sender, parts),
        capabilities: sender.capabilities,
        clientInfo: sender.clientInfo,
        headers: credentials,
      },
      parts,
    );
    if (isRefusal(session)) return session;
    const wanted = supportedChanges(filter, session.capabilities);
    const joined = asksForSomething(wanted)
      ? await joinFeed(session, server, credentials, (message) => isWantedChange(wanted, message), call.abort.signal, parts)
      : null;
    return { session, wanted, joined };
  };
  let there = await join();
  if (!isRefusal(there) && there.session.over) there = await join();
  if (isRefusal(there)) return there;
  const { session, wanted, joined } = there;
  if (joined === null)
    return session.feedless || !asksForSomething(wanted)
      ? noChanges(call)
      : refuse("upstream_unreachable", "The tool server could not be listened to.");
  call.row.server_version ??= versionOf(session);
  // Subscriptions end with their session; a new session has its own.
  const ask: AskSubscription = async (method, uri) => !session.over && (await takesSubscription(call, server, method, uri, sender, parts));
  const uris: string[] = [];
  for (const uri of wanted.uris) {
    if (await subscribe(session.subscriptions, uri, ask)) uris.push(uri);
    else unsubscribe(session.subscriptions, uri, ask);
  }
  const honoured = { ...wanted, uris };
  let open = true;
  return {
    honoured,
    notifications: wantedOf(joined.heard, honoured),
    close() {
      if (!open) return;
      open = false;
      joined.leave();
      for (const uri of uris) unsubscribe(session.subscriptions, uri, ask);
    },
  };
}

async function* wantedOf(notifications: AsyncGenerator<JsonObject, void>, filter: ChangeFilter): AsyncGenerator<JsonObject, void> {
  for await (const message of notifications) if (isWantedChange(filter, message)) yield message;
}

function asksForSomething({ tools, prompts, resources, uris, logs }: ChangeFilter): boolean {
  return tools || prompts || resources || logs || uris.length > 0;
}
