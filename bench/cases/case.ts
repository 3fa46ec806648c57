import type { Admin } from "../targets/admin.ts";
import type { TargetName } from "../targets/target.ts";

/**
 * What the fake upstream answers while a case runs. Frames are written without pauses, `framesPerWrite` at a time: one
 * at a time costs the upstream more than it costs a proxy, and the case would measure the upstream.
 */
export type UpstreamAnswer =
  | { readonly kind: "json"; readonly body: string }
  | { readonly kind: "stream"; readonly frames: readonly string[]; readonly framesPerWrite: number }
  | ToolServerAnswer;

/** A tool server of one dialect, which answers by method and under the id it was asked with. */
export interface ToolServerAnswer {
  readonly kind: "tool_server";
  readonly dialect: "handshake" | "stateless";
  /** Each as JSON text. */
  readonly results: Readonly<Record<string, string>>;
}

/**
 * When an answer counts as whole. The first answer of a connection is checked in full, and so is every later one
 * whose length differs from it; the others by length and end.
 */
export interface AnswerCheck {
  readonly kind: "json" | "stream";
  /** Texts that must all be in the body. */
  readonly contains: readonly string[];
  /** Text the trimmed body ends with. */
  readonly endsWith: string;
  /** Of a stream: how many `data:` lines at least. */
  readonly frames?: number;
}

/** A call as the upstream, `bare` and the peer get it, and where Gatehouse's caller does otherwise. */
export interface CallShape {
  readonly path: string;
  /** The JSON body for a model of that name. */
  readonly body: (model: string) => object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The format the upstream speaks: which provider the gateways use for it, or that it is a tool server. */
  readonly upstreamFormat: "openai" | "anthropic" | "mcp";
  readonly upstream: UpstreamAnswer;
  readonly check: AnswerCheck;
  /** Body and check only where the gateway translates between formats. A tool server's id goes behind the path. */
  readonly atGatehouse: { readonly path: string; readonly body?: CallShape["body"]; readonly check?: AnswerCheck };
}

/** Compares the targets under the same load. */
export interface ComparisonCase {
  readonly kind: "comparison";
  readonly connections: number;
  /** Calls that are begun in a second, whatever was answered; without it each connection sends its next when it has its answer. */
  readonly perSecond?: number;
  readonly call: CallShape;
  /** Without it, the usual ones. */
  readonly targets?: readonly TargetName[];
  /** Only when it is asked for by its name. */
  readonly byName?: true;
  /** Further governance on the resource group that the case's key is bound to; `serverId` where a tool server is called. */
  readonly configure?: (admin: Admin, groupId: string, serverId: string | null) => Promise<void>;
}

/** Watches one target's memory over many calls. */
export interface SoakCase {
  readonly kind: "soak";
  readonly connections: number;
  readonly calls: number;
  /** Memory is read every so many calls. */
  readonly sampleEvery: number;
  readonly call: CallShape;
  readonly target: TargetName;
  readonly configure?: ComparisonCase["configure"];
}

export type Case = ComparisonCase | SoakCase;
