/** A body that is read as it is sent, anew each time it has to be sent. */
export interface OutboundBytes {
  readonly contentType: string;
  readonly length: number;
  open(): ReadableStream<Uint8Array>;
}
