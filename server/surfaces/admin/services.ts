import type { Logins } from "../../directory/people/logins.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { Log } from "../../kernel/log.ts";
import type { LedgerReads } from "./ledger-reads.ts";

export type HealthHandler = (request: Request) => Response | Promise<Response>;

/** What the operations of the control plane work with. */
export interface AdminServices {
  readonly directory: Directory;
  readonly logins: Logins;
  readonly ledger: LedgerReads;
  /** Answers of paths that are not the control plane's own: `/healthz`, `/readyz`, `/metrics`. */
  readonly health: Readonly<Record<string, HealthHandler>>;
  readonly log: Log;
  /** The OpenAPI document. */
  readonly document: () => object;
}
