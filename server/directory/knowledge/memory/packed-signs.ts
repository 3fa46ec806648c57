import type { PackedSigns } from "./passage-memory.ts";

/** From what PostgreSQL sends of a bit string: how many there are in four bytes, then eight in a byte. */
export function unpackedSigns(sent: Uint8Array): PackedSigns {
  const view = new DataView(sent.buffer, sent.byteOffset, sent.byteLength);
  const bits = view.getUint32(0);
  const words = new Uint32Array(Math.ceil(bits / 32));
  for (let i = 0; i < sent.byteLength - 4; i++)
    words[i >> 2] = ((words[i >> 2] as number) | (view.getUint8(4 + i) << (24 - 8 * (i & 3)))) >>> 0;
  return { bits, words };
}

/** From 0 and 1 in a text. */
export function packedSigns(signs: string): PackedSigns {
  const words = new Uint32Array(Math.ceil(signs.length / 32));
  for (let i = 0; i < signs.length; i++) if (signs[i] === "1") words[i >> 5] = ((words[i >> 5] as number) | (1 << (31 - (i & 31)))) >>> 0;
  return { bits: signs.length, words };
}
