import type { UpstreamAnswer } from "../cases/case.ts";

/** Every request is answered with a report. */
export interface UpstreamRequest {
  /** Answer so from now on. */
  readonly answer?: UpstreamAnswer;
  /** Count from zero again. */
  readonly restart?: boolean;
}

export interface UpstreamReport {
  /** In the first report only. */
  readonly port?: number;
  /** POST requests answered since the count was last restarted. */
  readonly served: number;
}
