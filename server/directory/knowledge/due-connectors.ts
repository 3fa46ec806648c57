import type { Database } from "../../store/database.ts";
import { documentsOfConnector, type KbConnectorRow, noteSynced, takeUpConnector } from "../../store/kb-connectors.ts";

export type DueConnector = KbConnectorRow;

/** Longer than any source takes that is small enough. */
const LEASE_MS = 30 * 60_000;

/** Sources that are to be looked at. */
export class DueConnectors {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  takeUp(): Promise<DueConnector | null> {
    return takeUpConnector(this.db, LEASE_MS);
  }

  documents(connector: DueConnector): Promise<Map<string, string>> {
    return documentsOfConnector(this.db, connector.id);
  }

  note(connector: DueConnector, problem: string | null, skipped: readonly string[]): Promise<void> {
    return noteSynced(this.db, connector, problem, skipped);
  }
}
