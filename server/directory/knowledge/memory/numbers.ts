/** A growable array of 32-bit unsigned integers. */
export class Numbers {
  data = new Uint32Array(256);
  length = 0;

  /** Makes room for that many more. */
  reserve(more: number): void {
    const wanted = this.length + more;
    if (wanted <= this.data.length) return;
    const grown = new Uint32Array(Math.max(wanted, Math.ceil(this.data.length * 1.3)));
    grown.set(this.data.subarray(0, this.length));
    this.data = grown;
  }

  push(value: number): void {
    this.reserve(1);
    this.data[this.length++] = value;
  }

  append(values: Uint32Array): void {
    this.reserve(values.length);
    this.data.set(values, this.length);
    this.length += values.length;
  }

  get bytes(): number {
    return this.data.byteLength;
  }
}
