/** Where documents come from. Another kind of source is another one of these. */
export interface KnowledgeSource {
  /** Every file there, by its path from the beginning of the source, `/` between folders. */
  files(): AsyncIterable<SourceFile>;
  /** Null where it is not there, is no file, or is larger than anything that is read. Rejects with `SourceUnavailable`. */
  read(path: string): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

/** Where a connector looks. */
export interface SourcePlace {
  readonly tenantId: string;
  readonly connectorType: string;
  /** A path below what the tenant has, or an address. */
  readonly location: string;
  readonly credential: string | null;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

export interface SourceFile {
  readonly path: string;
  /** Null where it cannot be told, nor the file be read. */
  readonly sizeBytes: number | null;
}

/** In words for whoever set the connector up. */
export class SourceUnavailable extends Error {
  /** It asks not to be asked again for so long. */
  readonly waitMs: number;

  constructor(reason: string, waitMs = 0) {
    super(reason);
    this.name = "SourceUnavailable";
    this.waitMs = waitMs;
  }
}

/** One file is there and cannot be read, for lack of rights as a rule: others may be. */
export class FileUnreadable extends SourceUnavailable {
  constructor() {
    super("It could not be read.");
  }
}

/** Far more than a knowledge base is good for. */
export const MOST_FILES = 20_000;

/** No file is read that is larger, whatever it said of its size. */
export const MOST_FILE_BYTES = 64 * 1024 * 1024;
