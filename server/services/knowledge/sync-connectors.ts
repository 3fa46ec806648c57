import { isDeepStrictEqual } from "node:util";
import { nameText } from "@gatehouse/contracts/conventions";
import type { DocumentPermissions } from "@gatehouse/contracts/knowledge-bases";
import { DOCUMENT_KINDS, MAX_DOCUMENT_BYTES } from "../../directory/knowledge/document-kinds.ts";
import { deleteDocument, narrowDocumentPermissions, uploadDocument } from "../../directory/knowledge/documents.ts";
import { DueConnectors, type DueConnector } from "../../directory/knowledge/due-connectors.ts";
import { principalsOf, principalsOfBoth } from "../../directory/knowledge/reader-principals.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import { Refused } from "../../kernel/errors.ts";
import type { Job } from "../../kernel/scheduling/job.ts";
import type { Log } from "../../kernel/log.ts";
import { FileUnreadable, type KnowledgeSource, type SourcePlace, SourceUnavailable } from "../../upstreams/knowledge-sources/source.ts";
import { type PermissionsOf, readPermissions } from "./source-permissions.ts";

export interface SyncParts {
  readonly directory: Directory;
  /** Connects to a connector's source. Rejects with `SourceUnavailable`. */
  readonly openSource: (place: SourcePlace) => Promise<KnowledgeSource>;
  readonly log: Log;
}

const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const MAX_REPORTED = 100;
/** A source with more unreadable files than this counts as unavailable. */
const MAX_UNREADABLE = 20;
const MAX_PATH_LENGTH = 300;
const NOBODY: PermissionsOf = () => [];

/** The gateway is shutting down: do not wait for the source. */
class Stopped extends Error {}

/** Sources synchronized concurrently, one per tenant, so that a slow source delays only its own tenant. */
const MAX_CONCURRENT = 4;
/** A source that has taken this long no longer counts towards `MAX_CONCURRENT`. */
const SLOW_MS = 30_000;
const MAX_TOTAL = 32;
/** Shorter than the lease, after which another process would take the connector. */
const WHOLE_MS = 25 * 60_000;
const POLL_INTERVAL_MS = 1_000;

/** Synchronizes documents from connectors' sources until `stop`, which aborts synchronizations in progress. */
export function openConnectors(parts: SyncParts): { readonly jobs: readonly Job[]; stop(): Promise<void> } {
  const due = new DueConnectors(parts.directory);
  const stopping = new AbortController();
  const { signal } = stopping;
  const byTenant = new Map<string, { readonly sync: Promise<void>; readonly since: number }>();
  const isRoom = () => {
    const slowSince = parts.directory.clock.now() - SLOW_MS;
    return byTenant.size < MAX_TOTAL && [...byTenant.values()].filter(({ since }) => since > slowSince).length < MAX_CONCURRENT;
  };
  const syncNext = async () => {
    while (!signal.aborted && isRoom()) {
      const connector = await due.takeUp([...byTenant.keys()]);
      if (connector === null) return;
      const sync = syncConnector(parts, due, connector, signal)
        .catch((error: Error) => parts.log.warn("connector_not_synced", { connector_id: connector.id, error }))
        .finally(() => byTenant.delete(connector.tenant_id));
      byTenant.set(connector.tenant_id, { sync: sync, since: parts.directory.clock.now() });
    }
  };
  return {
    jobs: [{ name: "sync_knowledge", everyMs: POLL_INTERVAL_MS, run: syncNext }],
    async stop() {
      stopping.abort(new Stopped());
      await Promise.all([...byTenant.values()].map(({ sync: looking }) => looking));
    },
  };
}

/** A signal that aborts with `stopping`, or after `WHOLE_MS`, because a listing may never end. `over` clears the timer. */
function bounded(stopping: AbortSignal): { readonly signal: AbortSignal; over(): void } {
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(new SourceUnavailable("It could not be looked at in time.")), WHOLE_MS);
  return { signal: AbortSignal.any([stopping, tooLong.signal]), over: () => clearTimeout(timer) };
}

/** Synchronizes one connector and records the result; if the gateway is stopping, the connector becomes due again. */
async function syncConnector(parts: SyncParts, due: DueConnectors, connector: DueConnector, stopping: AbortSignal): Promise<void> {
  let problem: string | null = null;
  let waitMs = 0;
  const { signal, over } = bounded(stopping);
  const skipped: string[] = [];
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason as Error);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const skip: Skip = (path, reason) => {
    if (skipped.length < MAX_REPORTED) skipped.push(`${path}: ${reason}`);
  };
  try {
    problem = await Promise.race([syncOne(parts, due, connector, skip, signal), stopped]);
  } catch (error) {
    if (error instanceof Stopped) return due.release(connector);
    problem = error instanceof SourceUnavailable ? error.message : "The gateway could not look at it.";
    if (error instanceof SourceUnavailable) ({ waitMs } = error);
    else parts.log.error("connector_not_synced", { connector_id: connector.id, error: error as Error });
  } finally {
    signal.removeEventListener("abort", stop);
    over();
  }
  await due.note(connector, problem, skipped, waitMs);
}

type Skip = (path: string, reason: string) => void;

/** Returns a problem that did not prevent the synchronization, or null. */
async function syncOne(
  { directory, openSource }: SyncParts,
  due: DueConnectors,
  connector: DueConnector,
  skip: Skip,
  signal: AbortSignal,
): Promise<string | null> {
  const { tenant_id: tenantId, knowledge_base_id: baseId, mapping_file: mappingFile } = connector;
  const source = await openSource({
    tenantId,
    connectorType: connector.connector_type,
    location: connector.location,
    credential: due.credential(connector),
    signal,
  });
  try {
    const read = async () => {
      const mapping = await source.read(mappingFile).catch((error: unknown) => {
        if (error instanceof FileUnreadable) return "unreadable" as const;
        throw error;
      });
      return { mapping, readable: mapping === null || mapping === "unreadable" ? null : readPermissions(mapping) };
    };
    let { mapping, readable } = await read();
    const permissionsOf = (path: string): DocumentPermissions => ({
      connector_type: connector.connector_type as DocumentPermissions["connector_type"],
      identities: [...(readable ?? NOBODY)(path)],
    });
    const gone = await due.documents(connector);
    const narrowRights = async (documents: typeof gone) => {
      for (const [path, { id, principals }] of documents)
        if (!isDeepStrictEqual(principals, principalsOfBoth(principals, principalsOf(permissionsOf(path)))))
          await write(directory, GATEWAY, (change) => narrowDocumentPermissions(change, tenantId, baseId, id, permissionsOf(path))).catch(
            unlessRefused,
          );
    };
    // Revoked permissions apply before any file is read, so that unreadable files cannot delay them. New permissions wait for the current
    // content, because they may have been granted for it rather than for the stored one.
    await narrowRights(gone);
    const seen = new Set<string>();
    let unreadable = 0;
    for await (const { path, sizeBytes } of source.files()) {
      signal.throwIfAborted();
      // A source may list a file more than once.
      if (path === mappingFile || seen.has(path)) continue;
      seen.add(path);
      const kind = DOCUMENT_KINDS[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
      const unfit = kind === undefined ? "is of no kind that is read" : unfitFile(path, sizeBytes);
      if (kind === undefined || unfit !== null) {
        skip(path, unfit ?? "");
        // A file whose size cannot be read still exists, so its document is not deleted.
        if (sizeBytes === null) gone.delete(path);
        continue;
      }
      const content = await source.read(path).catch((error: unknown) => {
        if (!(error instanceof SourceUnavailable) || ++unreadable > MAX_UNREADABLE) throw error;
        skip(path, error.message);
        return "unreadable" as const;
      });
      // The same holds for a file whose content cannot be read now.
      if (content !== null) gone.delete(path);
      if (content === null || content === "unreadable") continue;
      const document = { name: path, kind, metadata: { path }, content, permissions: permissionsOf(path) };
      await write(directory, GATEWAY, (change) => uploadDocument(change, tenantId, baseId, document, connector.id)).catch(
        (error: unknown) => skip(path, unlessRefused(error)),
      );
    }
    signal.throwIfAborted();
    // An empty listing is more likely a file system that is not mounted.
    if (seen.size === 0 && mapping === null) throw new SourceUnavailable("There is nothing at its location.");
    for (const { id } of gone.values())
      await write(directory, GATEWAY, (change) => deleteDocument(change, tenantId, baseId, id)).catch(unlessRefused);
    // The mapping may have changed while the files were read: then apply it to all documents again.
    const before = mapping;
    ({ mapping, readable } = await read());
    if (!isDeepStrictEqual(mapping, before)) await narrowRights(await due.documents(connector));
    if (mapping === null) return `There is no ${mappingFile} in it, so that nobody finds its documents.`;
    if (mapping === "unreadable") return `${mappingFile} could not be read, so that nobody finds its documents.`;
    return readable === null ? `${mappingFile} does not say who reads what, so that nobody finds its documents.` : null;
  } finally {
    await source.close();
  }
}

/** Why a file is not imported; null if it may be. */
function unfitFile(path: string, sizeBytes: number | null): string | null {
  if (sizeBytes === null) return "could not be read";
  if (sizeBytes === 0) return "is empty";
  if (path.length > MAX_PATH_LENGTH || sizeBytes > MAX_DOCUMENT_BYTES) return "is too large, or its path too long";
  return nameText(MAX_PATH_LENGTH).safeParse(path).success
    ? null
    : "has control characters in its path, or turns the direction of text around";
}

/** A concurrent change may cause the write to be refused. Returns the refusal's message and rethrows other errors. */
function unlessRefused(error: unknown): string {
  if (!(error instanceof Refused)) throw error;
  return error.message;
}
