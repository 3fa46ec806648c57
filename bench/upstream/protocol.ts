import type { UpstreamAnswer } from "../cases/case.ts";

/** Every request is answered with a report. */
export interface UpstreamRequest {
  /** Answer like this from now on. */
  readonly answer?: UpstreamAnswer;
  /** Resets the counter. */
  readonly restart?: boolean;
}

export interface UpstreamReport {
  /** In the first report only. */
  readonly port?: number;
  /** POST requests answered since the last reset. */
  readonly served: number;
}
