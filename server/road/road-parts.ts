import type { ErrorCode } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import type { ArrivingBodies } from "../wire/http/arriving-bodies.ts";
import type { AdmissionParts, RouteCallers } from "./admission/admit.ts";
import type { AuditClass, Call } from "./call.ts";
import type { Govern } from "./govern.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { UnauthenticatedCalls } from "./record/unauthenticated-calls.ts";
import type { Surface } from "./surface.ts";

/** One governed route: whose wire it speaks and how its calls are filed. */
export interface GovernedRoute {
  readonly surface: Surface;
  readonly audit: AuditClass;
  /** Whether the request carries a body, and whether it may be packed. `streamed`: the surface reads it, once it is governed. */
  readonly body: boolean | "may_be_gzip" | "streamed";
  /** `group` when left out. */
  readonly admits?: RouteCallers;
  /** Whether its calls are for showing who one is, told on the row as is_auth_event: a login, a token, a second factor. */
  readonly authenticates?: true;
  /** Whether its rows leave out who was let in, however their calls end. */
  readonly withoutCaller?: true;
  /** Largest body, where it is smaller than that of a model call. */
  readonly maxBodyBytes?: number;
}

export interface RoadParts extends AdmissionParts {
  readonly calls: OpenCalls;
  readonly govern: Govern;
  readonly strangers: UnauthenticatedCalls;
  /** Told of each call that was admitted, before its body is read. A promise only where something has to be looked up. */
  readonly admitted: (call: Call) => Promise<void> | null;
  readonly log: Log;
  readonly bodies: ArrivingBodies;
  readonly maxBodyBytes: number;
  readonly upstreamTimeoutMs: number;
  /**
   * Told of every request that is refused without a row of its own: `draining`, `too_many_strangers`, or `audit_unavailable` where it
   * could not be recorded.
   */
  readonly unrecorded: (reason: ErrorCode) => void;
}
