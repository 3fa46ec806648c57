import type { AnswerCheck, CallShape, ComparisonCase } from "../cases/case.ts";
import type { Upstream } from "../upstream/upstream.ts";

export const TARGETS = ["direct", "bare", "gatehouse", "relaxed", "unrecorded", "peer", "litellm"] as const;
export type TargetName = (typeof TARGETS)[number];

/** The targets of cases that name none. The others are Gatehouse again, with less of its ledger. */
export const USUAL_TARGETS: readonly TargetName[] = ["direct", "bare", "gatehouse", "peer"];

/** How the load client calls a target in one case, and what it expects back. */
export interface Endpoint {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly check: AnswerCheck;
}

/** The model's name at the upstream. */
export const UPSTREAM_MODEL = "bench";

/** The endpoint of a target that is called exactly like the upstream. */
export function plainEndpoint(
  port: number,
  { path, body, headers, check }: CallShape,
  extra: Readonly<Record<string, string>> = {},
): Endpoint {
  return { port, path, headers: { ...headers, ...extra }, body: JSON.stringify(body(UPSTREAM_MODEL)), check };
}

/** What a target needs to know about a case. */
export interface Preparation {
  readonly name: string;
  readonly call: CallShape;
  readonly configure?: ComparisonCase["configure"];
}

export interface Target {
  readonly name: TargetName;
  /** Root of the process tree whose resource usage is the target's. */
  readonly pid: number;
  prepare(preparation: Preparation): Promise<Endpoint>;
  /** If the target ended by itself: why. */
  exitReport?(): string | undefined;
}

export type StartTarget = (upstream: Upstream) => Promise<Target>;
