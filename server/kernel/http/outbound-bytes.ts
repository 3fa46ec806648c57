/** A request body that is read while it is sent, and anew for each attempt. */
export interface OutboundBytes {
  readonly contentType: string;
  readonly length: number;
  open(): ReadableStream<Uint8Array>;
}
