import { isDeepStrictEqual } from "node:util";
import { nameText } from "@gatehouse/contracts/conventions";
import type { DocumentPermissions } from "@gatehouse/contracts/knowledge-bases";
import { DOCUMENT_KINDS, LARGEST_DOCUMENT } from "../../directory/knowledge/document-kinds.ts";
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
  /** Opens the place of a connector. Rejects with `SourceUnavailable`. */
  readonly openSource: (place: SourcePlace) => Promise<KnowledgeSource>;
  readonly log: Log;
}

const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const MOST_TOLD = 100;
/** A source of which more files cannot be read is away. */
const MOST_UNREADABLE = 20;
const LONGEST_PATH = 300;
const NOBODY: PermissionsOf = () => [];

/** Whoever stops the gateway waits for no source. */
class Stopped extends Error {}

/** Sources looked at side by side, of another tenant each: one that takes its time holds up those of its own tenant alone. */
const MOST_AT_ONCE = 4;
/** One that has taken so long holds up nobody: another is looked at beside it. */
const SLOW_MS = 30_000;
const MOST_IN_ALL = 32;
/** Less than the time for which nobody else takes it up. */
const WHOLE_MS = 25 * 60_000;
const LOOKED_MS = 1_000;

/** Takes documents from where connectors find them, until `stop`, which waits for nothing that lies elsewhere. */
export function openConnectors(parts: SyncParts): { readonly jobs: readonly Job[]; stop(): Promise<void> } {
  const due = new DueConnectors(parts.directory);
  const stopping = new AbortController();
  const { signal } = stopping;
  const byTenant = new Map<string, { readonly looking: Promise<void>; readonly since: number }>();
  const isRoom = () => {
    const slowSince = parts.directory.clock.now() - SLOW_MS;
    return byTenant.size < MOST_IN_ALL && [...byTenant.values()].filter(({ since }) => since > slowSince).length < MOST_AT_ONCE;
  };
  const look = async () => {
    while (!signal.aborted && isRoom()) {
      const connector = await due.takeUp([...byTenant.keys()]);
      if (connector === null) return;
      const looking = lookAt(parts, due, connector, signal)
        .catch((error: Error) => parts.log.warn("connector_not_synced", { connector_id: connector.id, error }))
        .finally(() => byTenant.delete(connector.tenant_id));
      byTenant.set(connector.tenant_id, { looking, since: parts.directory.clock.now() });
    }
  };
  return {
    jobs: [{ name: "sync_knowledge", everyMs: LOOKED_MS, run: look }],
    async stop() {
      stopping.abort(new Stopped());
      await Promise.all([...byTenant.values()].map(({ looking }) => looking));
    },
  };
}

/** Aborted with `stopping`, and when it has taken too long: nobody waits for a source that never ends. */
function bounded(stopping: AbortSignal): { readonly signal: AbortSignal; over(): void } {
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(new SourceUnavailable("It could not be looked at in time.")), WHOLE_MS);
  return { signal: AbortSignal.any([stopping, tooLong.signal]), over: () => clearTimeout(timer) };
}

/** What came of it is noted; what was broken off is due again. */
async function lookAt(parts: SyncParts, due: DueConnectors, connector: DueConnector, stopping: AbortSignal): Promise<void> {
  let problem: string | null = null;
  let waitMs = 0;
  const { signal, over } = bounded(stopping);
  const skipped: string[] = [];
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason as Error);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const skip: Skip = (path, reason) => {
    if (skipped.length < MOST_TOLD) skipped.push(`${path}: ${reason}`);
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

/** What is wrong with it, where its documents could be taken all the same. */
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
    // Before anything is read: a right that was taken away does not wait for files that may be in the way. One that is given does, because
    // it may have been given for another content than what is found now.
    await narrowRights(gone);
    const seen = new Set<string>();
    let unreadable = 0;
    for await (const { path, sizeBytes } of source.files()) {
      signal.throwIfAborted();
      // A source may list a file again and again.
      if (path === mappingFile || seen.has(path)) continue;
      seen.add(path);
      const kind = DOCUMENT_KINDS[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
      const unfit = kind === undefined ? "is of no kind that is read" : unfitFile(path, sizeBytes);
      if (kind === undefined || unfit !== null) {
        skip(path, unfit ?? "");
        // What is there and cannot be looked at is not gone.
        if (sizeBytes === null) gone.delete(path);
        continue;
      }
      const content = await source.read(path).catch((error: unknown) => {
        if (!(error instanceof SourceUnavailable) || ++unreadable > MOST_UNREADABLE) throw error;
        skip(path, error.message);
        return "unreadable" as const;
      });
      // Nor is what cannot be read just now.
      if (content !== null) gone.delete(path);
      if (content === null || content === "unreadable") continue;
      const document = { name: path, kind, metadata: { path }, content, permissions: permissionsOf(path) };
      await write(directory, GATEWAY, (change) => uploadDocument(change, tenantId, baseId, document, connector.id)).catch(
        (error: unknown) => skip(path, unlessRefused(error)),
      );
    }
    signal.throwIfAborted();
    // As of a file system that is not mounted.
    if (seen.size === 0 && mapping === null) throw new SourceUnavailable("There is nothing at its location.");
    for (const { id } of gone.values())
      await write(directory, GATEWAY, (change) => deleteDocument(change, tenantId, baseId, id)).catch(unlessRefused);
    // It may have been changed while the files were read: what it said before holds for none of them.
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

/** Why a file is not taken; null where it may be. */
function unfitFile(path: string, sizeBytes: number | null): string | null {
  if (sizeBytes === null) return "could not be read";
  if (sizeBytes === 0) return "is empty";
  if (path.length > LONGEST_PATH || sizeBytes > LARGEST_DOCUMENT) return "is too large, or its path too long";
  return nameText(LONGEST_PATH).safeParse(path).success
    ? null
    : "has control characters in its path, or turns the direction of text around";
}

/** Somebody else may have changed or deleted what is written: what is refused says why. */
function unlessRefused(error: unknown): string {
  if (!(error instanceof Refused)) throw error;
  return error.message;
}
