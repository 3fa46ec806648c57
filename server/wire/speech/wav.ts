const HEADER = 44;
const BYTES_A_SAMPLE = 2;

/** Samples of one channel, 16 bits each, little-endian, as a WAV file. */
export function wavOf(samples: Uint8Array, rate: number): Uint8Array {
  const file = Buffer.alloc(HEADER + samples.byteLength);
  file.write("RIFF", 0);
  file.writeUInt32LE(HEADER - 8 + samples.byteLength, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * BYTES_A_SAMPLE, 28);
  file.writeUInt16LE(BYTES_A_SAMPLE, 32);
  file.writeUInt16LE(8 * BYTES_A_SAMPLE, 34);
  file.write("data", 36);
  file.writeUInt32LE(samples.byteLength, 40);
  file.set(samples, HEADER);
  return file;
}
