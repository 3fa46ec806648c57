import type { AnswerCheck } from "../cases/case.ts";

/** One period of load that ends after `durationMs` or `calls`, whichever comes first. */
export interface Job {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
  readonly calls?: number;
  /**
   * Open loop: starts this many calls per second for `durationMs`, regardless of answers. Without it, each connection sends its next call
   * after its answer.
   */
  readonly perSecond?: number;
  readonly check: AnswerCheck;
}

export interface JobResult {
  readonly calls: number;
  readonly errors: number;
  /** The first few error messages. */
  readonly messages: readonly string[];
  /** From the first call sent to the last one complete. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly firstByteP50Ms: number;
  /** CPU time of the load client itself. */
  readonly clientCpuSeconds: number;
}
