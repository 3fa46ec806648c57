export interface CommandIo {
  /** Awaited between the lines of an export, so that a slow reader slows it down. */
  stdout(text: string): void | Promise<void>;
  stderr(text: string): void;
}
