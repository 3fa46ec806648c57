export interface CommandIo {
  /** Awaited between the lines of an export, so that a slow reader applies backpressure. */
  stdout(text: string): void | Promise<void>;
  stderr(text: string): void;
}
