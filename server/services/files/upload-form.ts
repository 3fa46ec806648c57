/** The most that a form may hold. */
export interface FormBounds {
  readonly fields: number;
  readonly fieldBytes: number;
  /** Parts that are files, and how many of each may come. */
  readonly files: Readonly<Record<string, number>>;
  /** Whether the form may come without any of them; it may not when left out. */
  readonly noFile?: boolean;
}

export const ONE_FILE: FormBounds = { fields: 12, fieldBytes: 4_096, files: { file: 1 } };

export interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Fields that stood before the file: others may follow it. */
  readonly fieldsSoFar: ReadonlyMap<string, string>;
}

export interface ReadForm<T> {
  readonly fields: ReadonlyMap<string, string>;
  /** Of fields whose name ends in `[]`, which alone may come more than once. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** In the order they came. */
  readonly files: readonly T[];
  /** Of the whole body. */
  readonly bytes: number;
}
