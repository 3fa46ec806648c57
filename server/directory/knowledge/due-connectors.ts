import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { noteSynced, releaseConnector, takeUpConnector } from "../../store/knowledge/kb-connector-syncs.ts";
import { type BroughtDocument, documentsOfConnector, type KbConnectorRow } from "../../store/knowledge/kb-connectors.ts";

export type DueConnector = KbConnectorRow;

/** Longer than any source takes that is small enough. */
const LEASE_MS = 30 * 60_000;

/** Sources that are to be looked at. */
export class DueConnectors {
  private readonly db: Database;
  private readonly secrets: SecretBox;

  constructor({ db, secrets }: { readonly db: Database; readonly secrets: SecretBox }) {
    this.db = db;
    this.secrets = secrets;
  }

  /** None of these tenants. */
  takeUp(except: readonly string[]): Promise<DueConnector | null> {
    return takeUpConnector(this.db, LEASE_MS, except);
  }

  /** For the next one to look at it. */
  release(connector: DueConnector): Promise<void> {
    return releaseConnector(this.db, connector.id);
  }

  /** What its place is shown; null: nothing, or what cannot be opened any more. */
  credential({ id, credential_sealed: sealed }: DueConnector): string | null {
    return this.secrets.openOrNull(sealed, sealContext("knowledge_connectors", id));
  }

  documents(connector: DueConnector): Promise<Map<string, BroughtDocument>> {
    return documentsOfConnector(this.db, connector.id);
  }

  note(connector: DueConnector, problem: string | null, skipped: readonly string[], waitMs: number): Promise<void> {
    return noteSynced(this.db, connector, problem, skipped, waitMs);
  }
}
