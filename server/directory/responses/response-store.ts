import type { Database } from "../../store/database.ts";
import type { FileOwner } from "../../store/files/files.ts";
import * as responses from "../../store/responses/stored-responses.ts";
import { isUnderLegalHold } from "../../store/tenants/legal-holds.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";

export type StoredResponse = responses.StoredResponseRow;
export type ResponseToStore = responses.NewStoredResponse;
export type UseOfResponse = responses.ResponseUse;
export type HeldResponse = responses.ResponseOfCall;
export type { FileOwner as ResponseOwner };

/** Records the owner of each response that a provider stores. */
export class ResponseStore {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  readonly insert = (rows: readonly ResponseToStore[]) => responses.insertStoredResponses(this.db, rows);
  readonly find = (owner: FileOwner, id: string) => responses.findStoredResponse(this.db, owner, id);
  readonly delete = (owner: FileOwner, id: string) => responses.deleteStoredResponse(this.db, owner, id);
  readonly isUnderLegalHold = (tenantId: string) => isUnderLegalHold(this.db, tenantId);
  readonly countOpen = (tenantId: string) => responses.countOpenResponses(this.db, tenantId);
  readonly takeDue = (turns: TenantTurns, leaseMs: number) => responses.takeDueResponses(this.db, turns, leaseMs);
  readonly lookAgain = (row: StoredResponse, afterMs: number) => responses.scheduleResponsePoll(this.db, row, afterMs);
  readonly claimSettlement = (...by: [StoredResponse, rowId: string, UseOfResponse]) => responses.claimResponseSettlement(this.db, ...by);
  readonly forgetSettlement = (row: StoredResponse) => responses.forgetResponseSettlement(this.db, row);
  readonly noteSettled = (row: StoredResponse) => responses.noteResponseSettled(this.db, row);
  readonly fateOf = (tenantId: string, rowId: string) => responses.responseRowOutcome(this.db, tenantId, rowId);
  readonly takeUp = (chain: string) => responses.takeUpResponses(this.db, chain);
  readonly settled = (held: readonly HeldResponse[]) => responses.settledResponses(this.db, held);
  readonly sweep = () => responses.sweepStoredResponses(this.db);
}
