import type { AnswerCheck } from "../cases/case.ts";

/** One stretch of load: as long as `durationMs` or as many as `calls`, whichever comes first. */
export interface Job {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
  readonly calls?: number;
  /**
   * Calls that are begun in a second, whatever was answered, for as long as `durationMs`. Without it each connection sends its next call
   * when it has its answer.
   */
  readonly perSecond?: number;
  readonly check: AnswerCheck;
}

export interface JobResult {
  readonly calls: number;
  readonly errors: number;
  /** The first few errors, in words. */
  readonly messages: readonly string[];
  /** From the first call sent to the last one complete. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly firstByteP50Ms: number;
  /** What the client itself burnt. */
  readonly clientCpuSeconds: number;
}
