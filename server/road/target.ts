import type { AgentEntry, AgentGrantEntry } from "../directory/agents/agent-entry.ts";
import type { RoutingGroupEntry, RoutingMember } from "../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../directory/snapshot.ts";
import type { SkillEntry } from "../directory/skills/skill-entry.ts";
import type { ToolAccess } from "../directory/tools/tool-access.ts";
import type { ToolServerEntry, VirtualServerEntry } from "../directory/tools/tool-server-entry.ts";
import type { JsonValue } from "../kernel/json-value.ts";
import type { Capability } from "../wire/mcp/capability.ts";
import type { Dialect } from "../wire/mcp/dialect.ts";

/** What a request addresses, in the caller's terms. Every surface produces one of these. */
export type Target = NoTarget | ModelReference | ToolReference | AgentReference | NamedReference;

interface NoTarget {
  readonly kind: "none";
}

export interface ModelReference {
  readonly kind: "model";
  /** Gateway name, provider name or routing group. */
  readonly name: string | null;
  /** Gateway ID; takes precedence over `name`, because it is unambiguous. */
  readonly id: string | null;
  /** The endpoint needs a model with one of these modes. */
  readonly modes: readonly string[];
  /** Whether the request reads the result of an earlier call, which was limited and metered then. */
  readonly madeBefore?: true;
}

export interface ToolReference {
  readonly kind: "tool";
  /** A single server, or a virtual server that stands for several. */
  readonly server: "single" | "virtual";
  readonly serverId: string;
  /** The caller's MCP dialect. */
  readonly dialect: Dialect;
  /** JSON-RPC method; null if there is no message. */
  readonly method: string | null;
  /** Whether the answer is a stream of change notifications that stays open as long as the caller likes. */
  readonly listens: boolean;
  readonly capability: Capability | null;
  readonly arguments: JsonValue | undefined;
  /** `params.uri`, for methods in which it does not name a resource of the protocol. */
  readonly address?: string | null;
}

export interface AgentReference {
  readonly kind: "agent";
  /** The tenant named in the address; null if it names none. */
  readonly tenantId: string | null;
  readonly cardName: string;
  /** Whether the request gives the agent something to do. */
  readonly sends: boolean;
  /** The skill that the message names. */
  readonly skill: string | null;
}

/** The agent a call may reach. */
export interface AgentRoute {
  readonly kind: "agent";
  readonly agent: AgentEntry;
  readonly grant: AgentGrantEntry;
  readonly skill: string | null;
  /** The agent's skills that the caller may use; null for all. */
  readonly skills: ReadonlySet<string> | null;
}

/** Kinds without access rules yet are addressed by ID; access control refuses kinds it cannot resolve. */
interface NamedReference {
  readonly kind: "skill" | "media";
  readonly id: string;
}

/** The target once access is granted: where the call may go. */
export type ResolvedTarget = NoTarget | ModelTarget | ToolRoute | AgentRoute | NamedReference;

export interface ModelTarget {
  readonly kind: "model";
  readonly route: Route;
  /** The model to serve the call. For a routing group, a representative until the first attempt, then the model of the current attempt. */
  model: ModelEntry;
}

/** The models that may serve a call. */
export interface Route {
  /** Null if the caller named a model. */
  readonly group: RoutingGroupEntry | null;
  /** Each is granted to the caller and able to serve the call; never empty. */
  readonly members: readonly RoutingMember[];
}

/** The tool servers a call may reach. */
export interface ToolRoute {
  readonly kind: "tool";
  /** Set if the gateway itself is the server. */
  readonly own?: "knowledge" | "skills";
  /** For the skill server: the skill the call names; null if it names none. */
  readonly skill?: SkillEntry | null;
  /** Null if the caller named a server directly. */
  readonly virtual: VirtualServerEntry | null;
  /** One target, except for lists of a virtual server, which may have several or none. */
  readonly targets: readonly ToolTarget[];
  /** With the names the server uses. */
  readonly capability: Capability | null;
}

export interface ToolTarget {
  readonly server: ToolServerEntry;
  readonly access: ToolAccess;
  /** The server's prefix within the virtual server. */
  readonly slug: string | null;
  readonly limits: ToolDataLimits;
}

/** How much a call may send to a tool server and receive from it; null for no limit. */
export interface ToolDataLimits {
  readonly maxPayloadBytes: number | null;
  readonly maxRows: number | null;
  readonly maxItems: number | null;
}

export const NO_TARGET: NoTarget = { kind: "none" };

/** The model to serve a call; null if it addresses none. */
export function modelOf({ target }: { readonly target: ResolvedTarget }): ModelEntry | null {
  return target.kind === "model" ? target.model : null;
}

const WRITING_MODES: ReadonlySet<string> = new Set(["chat", "responses", "completion", "realtime"]);

/** Whether the request asks a model to generate text. Instructions, tools and output limits apply to no other request. */
export function asksForText(target: Target): boolean {
  return target.kind !== "model" || generatesText(target.modes);
}

export function generatesText(modes: readonly string[]): boolean {
  return modes.some((mode) => WRITING_MODES.has(mode));
}

/** Whether the request reads the result of an earlier call, so that no model is asked. */
export function isStoredResult(target: Target): boolean {
  return target.kind === "model" && target.madeBefore === true;
}

/** The models that may serve a call; null if it addresses none. */
export function routeOf({ target }: { readonly target: ResolvedTarget }): Route | null {
  return target.kind === "model" ? target.route : null;
}

/** The tool servers a call may reach; null if it addresses none. */
export function toolsOf({ target }: { readonly target: ResolvedTarget }): ToolRoute | null {
  return target.kind === "tool" ? target : null;
}

/** The agent a call may reach; null if it addresses none. */
export function agentOf({ target }: { readonly target: ResolvedTarget }): AgentRoute | null {
  return target.kind === "agent" ? target : null;
}
