import type { DocumentPermissions } from "@gatehouse/contracts/knowledge-bases";
import { DOCUMENT_KINDS, LARGEST_DOCUMENT } from "../../directory/knowledge/document-kinds.ts";
import { deleteDocument, uploadDocument } from "../../directory/knowledge/documents.ts";
import { DueConnectors, type DueConnector } from "../../directory/knowledge/due-connectors.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import { Refused } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type KnowledgeSource, type SourcePlace, SourceUnavailable } from "../../upstreams/knowledge-sources/source.ts";
import { type PermissionsOf, readPermissions } from "./source-permissions.ts";

export interface SyncParts {
  readonly directory: Directory;
  /** Opens the place of a connector. Rejects with `SourceUnavailable`. */
  readonly openSource: (place: SourcePlace) => Promise<KnowledgeSource>;
  readonly log: Log;
}

const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const MOST_TOLD = 100;
const NOBODY: PermissionsOf = () => [];

/** Looks at every source that is due. */
export async function syncConnectors(parts: SyncParts): Promise<void> {
  const due = new DueConnectors(parts.directory);
  for (let connector = await due.takeUp(); connector !== null; connector = await due.takeUp()) {
    let problem: string | null = null;
    const skipped: string[] = [];
    try {
      problem = await syncOne(parts, due, connector, (path, reason) => {
        if (skipped.length < MOST_TOLD) skipped.push(`${path}: ${reason}`);
      });
    } catch (error) {
      problem = error instanceof SourceUnavailable ? error.message : "The gateway could not look at it.";
      if (!(error instanceof SourceUnavailable))
        parts.log.error("connector_not_synced", { connector_id: connector.id, error: error as Error });
    }
    await due.note(connector, problem, skipped);
  }
}

type Skip = (path: string, reason: string) => void;

/** What is wrong with it, where its documents could be taken all the same. */
async function syncOne(
  { directory, openSource }: SyncParts,
  due: DueConnectors,
  connector: DueConnector,
  skip: Skip,
): Promise<string | null> {
  const { tenant_id: tenantId, knowledge_base_id: baseId, mapping_file: mappingFile } = connector;
  const source = await openSource({
    tenantId,
    connectorType: connector.connector_type,
    location: connector.location,
    credential: due.credential(connector),
  });
  try {
    const mapping = await source.read(mappingFile);
    const permissions = mapping === null ? null : readPermissions(mapping);
    const gone = await due.documents(connector);
    for await (const { path, sizeBytes } of source.files()) {
      if (path === mappingFile) continue;
      const kind = DOCUMENT_KINDS[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
      if (kind === undefined) {
        skip(path, "is of no kind that is read");
        continue;
      }
      if (path.length > 300 || sizeBytes > LARGEST_DOCUMENT || sizeBytes === 0) {
        skip(path, sizeBytes === 0 ? "is empty" : "is too large, or its path too long");
        continue;
      }
      const content = await source.read(path);
      if (content === null) continue;
      gone.delete(path);
      const document = {
        ...{ name: path, kind, metadata: { path }, content },
        permissions: {
          connector_type: connector.connector_type as DocumentPermissions["connector_type"],
          identities: [...(permissions ?? NOBODY)(path)],
        },
      };
      await write(directory, GATEWAY, (change) => uploadDocument(change, tenantId, baseId, document, connector.id)).catch(
        (error: unknown) => {
          if (!(error instanceof Refused)) throw error;
          skip(path, error.message);
        },
      );
    }
    for (const id of gone.values()) await write(directory, GATEWAY, (change) => deleteDocument(change, tenantId, baseId, id));
    if (mapping === null) return `There is no ${mappingFile} in it, so that nobody finds its documents.`;
    return permissions === null ? `${mappingFile} does not say who reads what, so that nobody finds its documents.` : null;
  } finally {
    await source.close();
  }
}
