/** A source of documents for a knowledge base. */
export interface KnowledgeSource {
  /** All files, by path relative to the source, with `/` between folders. */
  files(): AsyncIterable<SourceFile>;
  /** Null if it does not exist, is not a file, or is too large to be read. Rejects with `SourceUnavailable`. */
  read(path: string): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

/** The settings of a connector. */
export interface SourcePlace {
  readonly tenantId: string;
  readonly connectorType: string;
  /** A path below the tenant's folder, or a URL. */
  readonly location: string;
  readonly credential: string | null;
  /** Aborted when the result is no longer needed. */
  readonly signal: AbortSignal;
}

export interface SourceFile {
  readonly path: string;
  /** Null if it is unknown; the file is then unreadable. */
  readonly sizeBytes: number | null;
}

/** The message is for whoever configured the connector. */
export class SourceUnavailable extends Error {
  /** How long the source asked not to be called again, milliseconds; 0 if it did not. */
  readonly waitMs: number;

  constructor(reason: string, waitMs = 0) {
    super(reason);
    this.name = "SourceUnavailable";
    this.waitMs = waitMs;
  }
}

/** A file exists but cannot be read, usually for lack of permission. Other files may be readable. */
export class FileUnreadable extends SourceUnavailable {
  constructor() {
    super("It could not be read.");
  }
}

/** Far more than a knowledge base is useful for. */
export const MAX_FILES = 20_000;

/** Larger files are not read, whatever size was reported. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
