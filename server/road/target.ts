import type { AgentEntry, AgentGrantEntry } from "../directory/agents/agent-entry.ts";
import type { RoutingGroupEntry, RoutingMember } from "../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../directory/snapshot.ts";
import type { SkillEntry } from "../directory/skills/skill-entry.ts";
import type { ToolAccess } from "../directory/tools/tool-access.ts";
import type { ToolServerEntry, VirtualServerEntry } from "../directory/tools/tool-server-entry.ts";
import type { JsonValue } from "../kernel/json-value.ts";
import type { Capability } from "../wire/mcp/capability.ts";
import type { Dialect } from "../wire/mcp/dialect.ts";

/** What a request addresses, as its caller names it. Every surface produces one of these. */
export type Target = NoTarget | ModelReference | ToolReference | AgentReference | NamedReference;

interface NoTarget {
  readonly kind: "none";
}

export interface ModelReference {
  readonly kind: "model";
  /** Gateway name, provider name or routing group. */
  readonly name: string | null;
  /** Gateway id, which wins: it is unambiguous. */
  readonly id: string | null;
  /** The model must be able to do one of these to serve this endpoint. */
  readonly modes: readonly string[];
  /** Whether what is asked for was made by a call before, which was limited and metered for it. */
  readonly madeBefore?: true;
}

export interface ToolReference {
  readonly kind: "tool";
  /** A server itself, or one that stands for several. */
  readonly server: "single" | "virtual";
  readonly serverId: string;
  /** What its caller speaks. */
  readonly dialect: Dialect;
  /** JSON-RPC method; null where there is no message. */
  readonly method: string | null;
  /** Whether a stream that answers it tells of changes, for as long as its caller likes. */
  readonly listens: boolean;
  readonly capability: Capability | null;
  readonly arguments: JsonValue | undefined;
  /** What `params.uri` says, of methods that name no resource of the protocol itself by it. */
  readonly address?: string | null;
}

export interface AgentReference {
  readonly kind: "agent";
  /** The tenant the address names; null where it names none. */
  readonly tenantId: string | null;
  readonly cardName: string;
  /** Whether the agent is given something to do. */
  readonly sends: boolean;
  /** The skill that what is sent names for itself. */
  readonly skill: string | null;
}

/** The agent a call may reach. */
export interface AgentRoute {
  readonly kind: "agent";
  readonly agent: AgentEntry;
  readonly grant: AgentGrantEntry;
  readonly skill: string | null;
  /** Of the agent's skills those that the caller may use; null: all. */
  readonly skills: ReadonlySet<string> | null;
}

/** What has no rules of access yet is addressed by its id: access control refuses a kind that nothing resolves. */
interface NamedReference {
  readonly kind: "skill" | "media";
  readonly id: string;
}

/** The target once access was granted: where the call may go. */
export type ResolvedTarget = NoTarget | ModelTarget | ToolRoute | AgentRoute | NamedReference;

export interface ModelTarget {
  readonly kind: "model";
  readonly route: Route;
  /** The model that is to serve it: of a routing group what stands for it until an attempt is made, then that attempt's. */
  model: ModelEntry;
}

/** The models that may serve a call. */
export interface Route {
  /** Null where the caller named a model. */
  readonly group: RoutingGroupEntry | null;
  /** Each granted to the caller and able to serve it; never empty. */
  readonly members: readonly RoutingMember[];
}

/** The tool servers a call may reach. */
export interface ToolRoute {
  readonly kind: "tool";
  /** Set where the gateway itself is the server. */
  readonly own?: "knowledge" | "skills";
  /** Of the server for skills: the one that the call names; null where it names none. */
  readonly skill?: SkillEntry | null;
  /** Null where the caller named a server itself. */
  readonly virtual: VirtualServerEntry | null;
  /** One, but for lists of a virtual server; of a virtual server possibly none. */
  readonly targets: readonly ToolTarget[];
  /** As the server knows it. */
  readonly capability: Capability | null;
}

export interface ToolTarget {
  readonly server: ToolServerEntry;
  readonly access: ToolAccess;
  /** Its name within the virtual server. */
  readonly slug: string | null;
  readonly limits: ToolDataLimits;
}

/** How much a call may send to a tool server and get from it; null is no limit. */
export interface ToolDataLimits {
  readonly maxPayloadBytes: number | null;
  readonly maxRows: number | null;
  readonly maxItems: number | null;
}

export const NO_TARGET: NoTarget = { kind: "none" };

/** The model that is to serve a call; null on calls that address none. */
export function modelOf({ target }: { readonly target: ResolvedTarget }): ModelEntry | null {
  return target.kind === "model" ? target.model : null;
}

const WRITING_MODES: ReadonlySet<string> = new Set(["chat", "responses", "completion"]);

/** Whether the request asks a model to generate text. Instructions, tools and output limits mean nothing to any other request. */
export function asksForText(target: Target): boolean {
  return target.kind !== "model" || generatesText(target.modes);
}

export function generatesText(modes: readonly string[]): boolean {
  return modes.some((mode) => WRITING_MODES.has(mode));
}

/** Whether the request reads what an earlier call produced: no model is asked. */
export function isStoredResult(target: Target): boolean {
  return target.kind === "model" && target.madeBefore === true;
}

/** The models that may serve a call; null on calls that address none. */
export function routeOf({ target }: { readonly target: ResolvedTarget }): Route | null {
  return target.kind === "model" ? target.route : null;
}

/** The tool servers a call may reach; null on calls that address none. */
export function toolsOf({ target }: { readonly target: ResolvedTarget }): ToolRoute | null {
  return target.kind === "tool" ? target : null;
}

/** The agent a call may reach; null on calls that address none. */
export function agentOf({ target }: { readonly target: ResolvedTarget }): AgentRoute | null {
  return target.kind === "agent" ? target : null;
}
