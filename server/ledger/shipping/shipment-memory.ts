/** Smaller buffers are not worth reusing. */
const KEPT_FROM_BYTES = 256 * 1024;

/** A buffer reused for successive shipments. Allocating one for each would create megabytes of garbage per second. */
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

  /** Call when the buffer is no longer read, but not after a failed shipment: its connection may still be sending. */
  takeBack(): void {
    if (this.given !== null && this.given.length >= KEPT_FROM_BYTES) this.kept = this.given;
    this.given = null;
  }

  /** Releases the buffer while nothing is being shipped. */
  free(): void {
    this.kept = null;
  }
}
