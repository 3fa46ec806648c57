import type { VirtualServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { mayUseTool } from "../../../directory/tools/tool-access.ts";
import { refuse, isRefusal } from "../../../kernel/errors.ts";
import { exactlyWritten } from "../../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { type ChangeFilter, supportedChanges } from "../../../wire/mcp/changes.ts";
import { type McpSender, statelessResult, withoutExecution } from "../../../wire/mcp/bridge.ts";
import { memberOf, namespacedUri } from "../../../wire/mcp/namespace.ts";
import { namespacedItem, namespacedResult } from "../../../wire/mcp/namespaced-items.ts";
import { edited, errorText, memberText, type RpcMessage, resultText } from "../../../wire/mcp/rpc.ts";
import { writtenItems } from "../../../wire/mcp/written-items.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolRoute, ToolTarget } from "../../../road/target.ts";
import { requestDigest } from "../../../wire/mcp/exact-arguments.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import { answerGate } from "../answers/answer-gate.ts";
import { forwardRequest } from "../forwarding/forward-request.ts";
import { openChanges } from "../changes/changes.ts";
import type { Changes } from "../changes/no-changes.ts";
import { reconnectingChanges } from "../changes/reconnecting-changes.ts";
import { offeredTools } from "../definitions/offered-tools.ts";
import type { Relay } from "../answers/relay.ts";
import { openState, sealState } from "../sessions/sealed-state.ts";
import { carriedCapabilities, type SynthesizedServer, methodNotServed } from "./synthesized-server.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import { completeList } from "../definitions/complete-list.ts";

type ListKind = "tools" | "prompts" | "resources" | "resourceTemplates";
const LISTS: Readonly<Record<string, ListKind>> = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};
const CAPABILITY_OF: Readonly<Record<ListKind, string>> = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  resourceTemplates: "resources",
};
const NAMED_BY: Readonly<Record<string, string>> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

/** Member of a list's `_meta` that names the member servers which could not be asked. */
const UNAVAILABLE = "dev.gatehouse/unavailable";
const STATE_PURPOSE = "mcp-member-state";
const STATE_MS = 3_600_000;

/** Presents several servers as one, with namespaced tools, prompts and resources, in both dialects. */
export function serveVirtualServer(call: Call, virtual: VirtualServerEntry, route: ToolRoute, parts: ToolParts): SynthesizedServer {
  return {
    id: virtual.id,
    info: { name: virtual.name, version: "1" },
    capabilities: capabilitiesOf(route.targets),
    instructions: virtual.description,
    changes: (filter, sender) => memberChanges(call, route.targets, filter, sender, parts),
    forward(message, sender, session) {
      const kind = LISTS[message.method ?? ""];
      const request = { message, sender, session, targets: route.targets };
      if (kind !== undefined) return list(call, kind, request, parts);
      if (message.method === "completion/complete") return completed(call, request, parts);
      const member = NAMED_BY[message.method ?? ""];
      const target = route.targets[0];
      return member === undefined || target === undefined || route.capability === null
        ? notThere(message)
        : delegate(
            call,
            { edits: { [member]: route.capability.name }, target, capability: route.capability, message, sender, session },
            parts,
          );
    },
  };
}

// oxlint-disable-next-line require-yield -- a relay without anything before its answer
async function* notThere({ id }: RpcMessage): Relay {
  return methodNotServed(id);
}

function capabilitiesOf(targets: readonly ToolTarget[]): JsonObject {
  const all: Record<string, JsonObject> = { tools: {} };
  for (const { server } of targets) {
    for (const [name, value] of Object.entries(carriedCapabilities(server.capabilities))) {
      if (name !== "tools" && name !== "prompts" && name !== "resources" && name !== "completions" && name !== "logging") continue;
      const listed = (all[name] ??= {});
      for (const what of ["listChanged", "subscribe"]) if (isObject(value) && value[what] === true) listed[what] = true;
    }
  }
  return all;
}

/** The change notifications of each member, with resource URIs namespaced. A member that cannot be reached is included once it can. */
function memberChanges(
  call: Call,
  targets: readonly ToolTarget[],
  filter: ChangeFilter,
  sender: McpSender,
  parts: ToolParts,
): Promise<Changes[]> {
  return Promise.all(
    targets.map(async ({ server, slug }) => {
      const own = filter.uris.flatMap((uri) => {
        const named = memberOf({ type: "resource", name: uri });
        return named?.slug === slug ? [named.capability.name] : [];
      });
      const wish = { ...filter, uris: own };
      const open = () => openChanges(call, server, wish, sender, parts);
      // If one failure were thrown here, the members already opened would never be closed.
      const opened = await open().catch(() => null);
      const first = opened === null || isRefusal(opened) ? null : opened;
      if (first === null) addTag(call, "member_unavailable");
      const promised = first?.honoured ?? supportedChanges(wish, server.capabilities);
      return namespacedChanges(slug ?? "", reconnectingChanges(first, promised, open, call.abort.signal));
    }),
  );
}

function namespacedChanges(slug: string, { honoured, notifications, close }: Changes): Changes {
  async function* mapped(): AsyncGenerator<JsonObject, void> {
    for await (const message of notifications) {
      const { params } = message;
      yield isObject(params) && typeof params.uri === "string"
        ? { ...message, params: { ...params, uri: namespacedUri(slug, params.uri) } }
        : message;
    }
  }
  return { honoured: { ...honoured, uris: honoured.uris.map((uri) => namespacedUri(slug, uri)) }, notifications: mapped(), close };
}

/** A request from the caller, and the members it may concern. */
interface MemberRequest {
  readonly message: RpcMessage;
  readonly sender: McpSender;
  /** Null for a stateless caller. */
  readonly session: string | null;
  readonly targets: readonly ToolTarget[];
}

interface Delegation extends Omit<MemberRequest, "targets"> {
  /** Params as the member server knows them. */
  readonly edits: Readonly<Record<string, JsonValue>>;
  readonly target: ToolTarget;
  readonly capability: NonNullable<ToolRoute["capability"]>;
}

const REFERENCES: Readonly<Record<string, readonly ["prompt" | "resource", "name" | "uri"]>> = {
  "ref/prompt": ["prompt", "name"],
  "ref/resource": ["resource", "uri"],
};

/** Forwards a completion to the member that owns the prompt or template. A member without completions yields no suggestions. */
async function* completed(call: Call, { message, sender, session, targets }: MemberRequest, parts: ToolParts): Relay {
  const { ref } = message.params;
  const [type, member] = (isObject(ref) ? REFERENCES[String(ref.type)] : undefined) ?? ["prompt", null];
  const name = isObject(ref) && member !== null ? ref[member] : undefined;
  const named = typeof name === "string" ? memberOf({ type, name }) : null;
  const target = targets.find(({ slug }) => slug === named?.slug);
  if (!isObject(ref) || member === null || named === null || target === undefined)
    return errorText(message.id, { code: -32602, message: "params.ref must name a prompt or a resource template of this server." });
  Object.assign(call.row, {
    server_id: target.server.id,
    server_version: target.server.serverVersion,
    mcp_capability_name: String(name).slice(0, 1000),
  });
  if (!("completions" in target.server.capabilities)) {
    const nothing = JSON.stringify({ completion: { values: [], total: 0, hasMore: false } });
    return resultText(message.id, session === null ? statelessResult("completion/complete", nothing, null) : nothing);
  }
  return yield* delegate(
    call,
    { edits: { ref: { ...ref, [member]: named.capability.name } }, target, capability: named.capability, message, sender, session },
    parts,
  );
}

/** Forwards a request to one member under the member's own names. */
async function* delegate(call: Call, { edits: own, target, capability, message, sender, session }: Delegation, parts: ToolParts): Relay {
  const slug = target.slug ?? "";
  const given = message.document.memberText("params");
  const owner = `${principalOf(call)}\n${target.server.id}\n${message.method}\n${requestDigest(given)}`;
  const edits: Record<string, string> = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, JSON.stringify(value)]));
  const parsed: JsonObject = { ...message.params, ...own };
  // A stateless member's state is sealed for this member and request, so that a retry cannot carry it to another. A handshake member has no
  // state of its own: its exchange is held in the gateway, which sealed the state itself.
  if (target.server.dialect === "stateless" && typeof message.params.requestState === "string") {
    const opened = openState(parts.secrets, STATE_PURPOSE, owner, message.params.requestState);
    const inner = opened !== null && Number(opened.until) > parts.clock.now() ? opened.state : null;
    if (typeof inner !== "string") return refuse("rpc_invalid_params", "requestState is not what was given for this request.");
    edits.requestState = JSON.stringify(inner);
    parsed.requestState = inner;
  }
  const params = edited(given ?? "{}", edits);
  return yield* forwardRequest(
    call,
    {
      server: target.server,
      method: message.method ?? "",
      params,
      parsed,
      capability,
      id: message.id ?? 0,
      dialect: session === null ? "stateless" : "handshake",
      sender,
      session,
      gate: (text, result) => answerGate(call, target, text, result, parts),
      edit(result, text) {
        const mapped = namespacedResult(slug, result);
        const state: Record<string, string> =
          typeof result.requestState === "string"
            ? {
                requestState: JSON.stringify(
                  sealState(parts.secrets, STATE_PURPOSE, owner, { state: result.requestState, until: parts.clock.now() + STATE_MS }),
                ),
              }
            : {};
        const changed =
          mapped === null
            ? {}
            : Object.fromEntries(
                ["content", "contents", "messages"].flatMap((name) =>
                  mapped[name] === undefined ? [] : [[name, exactlyWritten(mapped[name], memberText(text, name) ?? "[]")]],
                ),
              );
        return edited(text, { ...changed, ...state });
      },
    },
    parts,
  );
}

/** Merges the lists of all members. A member that fails is named in `_meta` and does not fail the list. */
// oxlint-disable-next-line require-yield -- a relay without anything before its answer
async function* list(call: Call, kind: ListKind, { message, sender, session, targets }: MemberRequest, parts: ToolParts): Relay {
  if (message.params.cursor != null)
    return errorText(message.id, { code: -32602, message: "There is no such cursor: the list is given whole." });
  const askable = targets.filter(({ server }) => server.dialect === null || CAPABILITY_OF[kind] in server.capabilities);
  const written =
    ({ slug }: ToolTarget) =>
    (item: JsonObject) =>
      namespacedItem(slug ?? "", kind, kind === "tools" && session === null ? withoutExecution(item) : item);
  const lists = await Promise.all(
    askable.map((target) => memberList(call, { kind, method: message.method ?? "", target, sender, written: written(target) }, parts)),
  );
  if (call.abort.signal.aborted) return refuse("upstream_interrupted");
  const unavailable: string[] = [];
  const items: string[] = [];
  askable.forEach(({ slug }, index) => {
    const listed = lists[index];
    if (listed == null) unavailable.push(slug ?? "");
    else for (const item of listed) items.push(item);
  });
  if (unavailable.length > 0) addTag(call, "member_unavailable");
  const meta = unavailable.length > 0 ? `,"_meta":${JSON.stringify({ [UNAVAILABLE]: unavailable })}` : "";
  const result = `{"${kind}":[${items.join(",")}]${meta}}`;
  return resultText(message.id, session === null ? statelessResult(message.method ?? "", result, null) : result);
}

interface MemberList {
  readonly kind: ListKind;
  readonly method: string;
  readonly target: ToolTarget;
  readonly sender: McpSender;
  /** The item as listed by the virtual server. */
  written(item: JsonObject): JsonObject;
}

/** All items of one member as JSON texts; null if its list could not be read completely. */
async function memberList(call: Call, { kind, method, target, sender, written }: MemberList, parts: ToolParts): Promise<string[] | null> {
  const pages = await completeList(call, method, target.server, sender, parts);
  if (!Array.isArray(pages)) return null;
  const items: string[] = [];
  for (const { result, text } of pages) {
    const own =
      kind === "tools"
        ? ((await offeredTools(call, target, result, target.server.dialect === "stateless", sender.capabilities, parts)) ?? result.tools)
        : result[kind];
    const listed = (Array.isArray(own) ? own : []).filter(
      (item) => isObject(item) && (kind !== "tools" || mayUseTool(target.access, String(item.name))),
    );
    for (const item of writtenItems(text, result, kind, listed, written)) items.push(item);
  }
  return items;
}
