import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { noteSynced, releaseConnector, takeUpConnector } from "../../store/knowledge/kb-connector-syncs.ts";
import { type FetchedDocument, documentsOfConnector, type KbConnectorRow } from "../../store/knowledge/kb-connectors.ts";

export type DueConnector = KbConnectorRow;

/** Longer than reading any source within the size limits takes. */
const LEASE_MS = 30 * 60_000;

/** Connectors that are due for a sync. */
export class DueConnectors {
  private readonly db: Database;
  private readonly secrets: SecretBox;

  constructor({ db, secrets }: { readonly db: Database; readonly secrets: SecretBox }) {
    this.db = db;
    this.secrets = secrets;
  }

  /** Claims the next due connector, skipping these tenants. */
  takeUp(except: readonly string[]): Promise<DueConnector | null> {
    return takeUpConnector(this.db, LEASE_MS, except);
  }

  /** Gives up the lease, so that another process can take it. */
  release(connector: DueConnector): Promise<void> {
    return releaseConnector(this.db, connector.id);
  }

  /** The credential for its source; null if it has none or it cannot be decrypted. */
  credential({ id, credential_sealed: sealed }: DueConnector): string | null {
    return this.secrets.openOrNull(sealed, sealContext("knowledge_connectors", id));
  }

  documents(connector: DueConnector): Promise<Map<string, FetchedDocument>> {
    return documentsOfConnector(this.db, connector.id);
  }

  note(connector: DueConnector, problem: string | null, skipped: readonly string[], waitMs: number): Promise<void> {
    return noteSynced(this.db, connector, problem, skipped, waitMs);
  }
}
