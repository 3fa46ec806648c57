import type { ErrorCode } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import type { ArrivingBodies } from "../wire/http/arriving-bodies.ts";
import type { AdmissionParts, RouteCallers } from "./admission/admit.ts";
import type { AuditClass, Call } from "./call.ts";
import type { Govern } from "./govern.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { UnauthenticatedCalls } from "./record/unauthenticated-calls.ts";
import type { Surface } from "./surface.ts";

/** One governed route: its protocol and how its calls are classified. */
export interface GovernedRoute {
  readonly surface: Surface;
  readonly audit: AuditClass;
  /** Whether the request has a body, and whether it may be gzipped. `streamed`: the surface reads it after the controls. */
  readonly body: boolean | "may_be_gzip" | "streamed";
  /** `group` when left out. */
  readonly admits?: RouteCallers;
  /** Whether its calls authenticate someone (a login, a token, a second factor), recorded as is_auth_event. */
  readonly authenticates?: true;
  /** Whether its rows omit the caller's identity, however the calls end. */
  readonly withoutCaller?: true;
  /** Largest body in bytes, if smaller than for model calls. */
  readonly maxBodyBytes?: number;
}

export interface RoadParts extends AdmissionParts {
  readonly calls: OpenCalls;
  readonly govern: Govern;
  readonly strangers: UnauthenticatedCalls;
  /** Called for each admitted call before its body is read. Returns a promise only if a lookup is needed. */
  readonly admitted: (call: Call) => Promise<void> | null;
  readonly log: Log;
  readonly bodies: ArrivingBodies;
  readonly maxBodyBytes: number;
  readonly upstreamTimeoutMs: number;
  /**
   * Called for every request that is refused without a row: `draining`, `too_many_strangers`, or `audit_unavailable` if it could not be
   * recorded.
   */
  readonly unrecorded: (reason: ErrorCode) => void;
}
