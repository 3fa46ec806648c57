import { createHash } from "node:crypto";
import { uuid } from "../../kernel/ids.ts";

/**
 * A new ID of a runner in the process that writes to `chain`. Its first half depends only on the chain, which no other live process has, so
 * after a crash the restarted process can tell which claims in the database its predecessors left.
 */
export function runnerId(chain: string): string {
  const digest = createHash("sha256").update(chain).digest("hex");
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(12, 15)}${uuid().slice(18)}`;
}
