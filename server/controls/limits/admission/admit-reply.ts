import type { Admission } from "./admission-answer.ts";
import type { Plan } from "../counters/counters.ts";

export type AdmitReply = readonly (string | number)[];

/** Parses the reply of the ADMIT and TRANSFER scripts. */
export function admissionOf(reply: AdmitReply, plan: Plan, probe: boolean): Admission {
  const [kind, first = "", second = "", third = ""] = reply;
  switch (kind) {
    case "admitted": {
      const windows = 2 + plan.windows.length;
      const buckets = windows + (probe || plan.unpaced === true ? 0 : plan.buckets.length);
      return {
        kind,
        spent: reply.slice(2, windows).map(Number),
        levels: reply.slice(windows, buckets).map(Number),
        inFlight: reply.slice(buckets).map(Number),
      };
    }
    case "locked":
      return { kind: "denied", denial: { by: "cooldown", scope: Number(first), limitType: String(second), retryAfterMs: Number(third) } };
    case "concurrency":
      return { kind: "denied", denial: { by: "concurrency", scope: Number(first), inFlight: Number(second) } };
    case "bucket":
      return { kind: "denied", denial: { by: "bucket", index: Number(first), retryAfterMs: Number(second) } };
    case "window":
      return { kind: "denied", denial: { by: "window", index: Number(first), spent: Number(second) } };
    case "held":
      return { kind, key: String(first) };
    case "cold":
      return { kind, windows: reply.slice(1).map(Number) };
    default:
      throw new Error(`the Valkey server answered ${JSON.stringify(reply).slice(0, 200)}`);
  }
}
