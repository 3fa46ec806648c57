/** Limits of a form. */
export interface FormBounds {
  readonly fields: number;
  readonly fieldBytes: number;
  /** File fields, each with the most parts it may have. */
  readonly files: Readonly<Record<string, number>>;
  /** Whether the form may have no file at all; false by default. */
  readonly noFile?: boolean;
}

export const ONE_FILE: FormBounds = { fields: 12, fieldBytes: 4_096, files: { file: 1 } };

export interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Fields sent before the file; others may follow it. */
  readonly fieldsSoFar: ReadonlyMap<string, string>;
}

export interface ReadForm<T> {
  readonly fields: ReadonlyMap<string, string>;
  /** Fields whose names end in `[]`; only these may be repeated. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** In the order received. */
  readonly files: readonly T[];
  /** Size of the whole body. */
  readonly bytes: number;
}
