import type { AnswerCheck, CallShape, ComparisonCase } from "../cases/case.ts";
import type { Upstream } from "../upstream/upstream.ts";

export const TARGETS = ["direct", "bare", "gatehouse", "relaxed", "unrecorded", "peer", "litellm"] as const;
export type TargetName = (typeof TARGETS)[number];

/** Those of a case that names none. The others are Gatehouse again, with less of its ledger. */
export const USUAL_TARGETS: readonly TargetName[] = ["direct", "bare", "gatehouse", "peer"];

/** Where and how the load client calls a target in one case, and what it expects back. */
export interface Endpoint {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly check: AnswerCheck;
}

/** The model as the upstream knows it. */
export const UPSTREAM_MODEL = "bench";

/** The entrance of a target that is called just as the upstream is. */
export function plainEndpoint(
  port: number,
  { path, body, headers, check }: CallShape,
  extra: Readonly<Record<string, string>> = {},
): Endpoint {
  return { port, path, headers: { ...headers, ...extra }, body: JSON.stringify(body(UPSTREAM_MODEL)), check };
}

/** What a target must know of a case. */
export interface Preparation {
  readonly name: string;
  readonly call: CallShape;
  readonly configure?: ComparisonCase["configure"];
}

export interface Target {
  readonly name: TargetName;
  /** Root of the process tree whose cost is the target's. */
  readonly pid: number;
  prepare(preparation: Preparation): Promise<Endpoint>;
  /** Of a target that ended by itself: how, in words. */
  exitReport?(): string | undefined;
}

export type StartTarget = (upstream: Upstream) => Promise<Target>;
