/** Where documents come from. Another kind of source is another one of these. */
export interface KnowledgeSource {
  /** Every file there, by its path from the beginning of the source, `/` between folders. */
  files(): AsyncIterable<SourceFile>;
  /** Null where it is not there, or is no file. */
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
}

export interface SourceFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** In words for whoever set the connector up. */
export class SourceUnavailable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "SourceUnavailable";
  }
}

/** Far more than a knowledge base is good for. */
export const MOST_FILES = 20_000;
