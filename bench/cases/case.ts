import type { Admin } from "../targets/admin.ts";
import type { TargetName } from "../targets/target.ts";

/**
 * What the fake upstream answers during a case. Frames are written without pauses, `framesPerWrite` at a time: writing them one by one
 * costs the upstream more than a proxy, and the case would measure the upstream.
 */
export type UpstreamAnswer =
  | { readonly kind: "json"; readonly body: string }
  | { readonly kind: "stream"; readonly frames: readonly string[]; readonly framesPerWrite: number }
  | ToolServerAnswer;

/** A tool server of one dialect that answers by method, echoing the request's ID. */
export interface ToolServerAnswer {
  readonly kind: "tool_server";
  readonly dialect: "handshake" | "stateless";
  /** Results by method, as JSON text. */
  readonly results: Readonly<Record<string, string>>;
}

/**
 * When an answer counts as complete. The first answer on a connection is checked in full, as is every later one of a different length; all
 * others are checked by length and end.
 */
export interface AnswerCheck {
  readonly kind: "json" | "stream";
  /** Texts the body must contain. */
  readonly contains: readonly string[];
  /** Text the trimmed body must end with. */
  readonly endsWith: string;
  /** For streams: the minimum number of `data:` lines. */
  readonly frames?: number;
}

/** A call as sent to the upstream, `bare` and the peer, and how Gatehouse's caller differs. */
export interface CallShape {
  readonly path: string;
  /** The JSON body for a model of this name. */
  readonly body: (model: string) => object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The upstream's format: which provider the gateways use for it, or that it is a tool server. */
  readonly upstreamFormat: "openai" | "anthropic" | "mcp";
  readonly upstream: UpstreamAnswer;
  readonly check: AnswerCheck;
  /** `body` and `check` are set only if the gateway translates between formats. A tool server's ID is appended to the path. */
  readonly atGatehouse: { readonly path: string; readonly body?: CallShape["body"]; readonly check?: AnswerCheck };
}

/** Compares the targets under the same load. */
export interface ComparisonCase {
  readonly kind: "comparison";
  readonly connections: number;
  /**
   * Open loop: starts this many calls per second regardless of answers. Without it, each connection sends its next call after its answer.
   */
  readonly perSecond?: number;
  readonly call: CallShape;
  /** Default: the usual targets. */
  readonly targets?: readonly TargetName[];
  /** Runs only when requested by name. */
  readonly byName?: true;
  /** Configures further governance on the resource group of the case's key; `serverId` if a tool server is called. */
  readonly configure?: (admin: Admin, groupId: string, serverId: string | null) => Promise<void>;
}

/** Watches one target's memory over many calls. */
export interface SoakCase {
  readonly kind: "soak";
  readonly connections: number;
  readonly calls: number;
  /** Memory is sampled after this many calls. */
  readonly sampleEvery: number;
  readonly call: CallShape;
  readonly target: TargetName;
  readonly configure?: ComparisonCase["configure"];
}

export type Case = ComparisonCase | SoakCase;
