const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Decodes the stored form: little-endian float32. */
export function fromBytes(bytes: Uint8Array): Float32Array {
  const length = Math.floor(bytes.byteLength / 4);
  if (LITTLE_ENDIAN) {
    // Copied, because the offset of the bytes may not be a multiple of four.
    const vector = new Float32Array(length);
    new Uint8Array(vector.buffer).set(bytes.subarray(0, length * 4));
    return vector;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length }, (_, i) => view.getFloat32(i * 4, true));
}

export function toBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of vector.entries()) view.setFloat32(i * 4, value, true);
  return bytes;
}

/** One bit per component: 1 if it is positive. */
export function signsOf(vector: Float32Array): string {
  let signs = "";
  for (const value of vector) signs += value > 0 ? "1" : "0";
  return signs;
}

/** From -1 to 1; null for vectors of different lengths or a zero vector. */
export function cosineOf(a: Float32Array, b: Float32Array): number | null {
  if (a.length !== b.length) return null;
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? null : Math.max(-1, Math.min(1, dot / Math.sqrt(aa * bb)));
}
