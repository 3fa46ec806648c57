import type { PackedSigns } from "./passage-memory.ts";

/** Parses PostgreSQL's binary format of a bit string: a 4-byte count of bits, then 8 bits per byte. */
export function unpackedSigns(sent: Uint8Array): PackedSigns {
  const view = new DataView(sent.buffer, sent.byteOffset, sent.byteLength);
  const bits = view.getUint32(0);
  const words = new Uint32Array(Math.ceil(bits / 32));
  for (let i = 0; i < sent.byteLength - 4; i++)
    words[i >> 2] = ((words[i >> 2] as number) | (view.getUint8(4 + i) << (24 - 8 * (i & 3)))) >>> 0;
  return { bits, words };
}

/** One bit per component: 1 if it is positive. */
export function packedSigns(vector: Float32Array): PackedSigns {
  const words = new Uint32Array(Math.ceil(vector.length / 32));
  for (const [i, value] of vector.entries()) if (value > 0) words[i >> 5] = ((words[i >> 5] as number) | (1 << (31 - (i & 31)))) >>> 0;
  return { bits: vector.length, words };
}
