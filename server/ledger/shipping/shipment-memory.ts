/** Less is not worth keeping for the next. */
const KEPT_FROM_BYTES = 256 * 1024;

/** One buffer that shipments are read into in turn. A new buffer for each would leave megabytes a second to the garbage collector. */
export class ShipmentMemory {
  private given: Buffer | null = null;
  private kept: Buffer | null = null;
  private readonly usualBytes: number;

  constructor(usualBytes: number) {
    this.usualBytes = usualBytes;
  }

  give(bytes: number): Buffer {
    const { kept } = this;
    this.kept = null;
    if (kept !== null && kept.length >= bytes) this.given = kept;
    else this.given = Buffer.allocUnsafe(bytes < KEPT_FROM_BYTES ? bytes : Math.max(bytes, this.usualBytes));
    return this.given;
  }

  /** What was given is read no more. Of a shipment that failed this is not known: its connection may still be sending. */
  takeBack(): void {
    if (this.given !== null && this.given.length >= KEPT_FROM_BYTES) this.kept = this.given;
    this.given = null;
  }

  /** Nothing is shipped for a while. */
  free(): void {
    this.kept = null;
  }
}
