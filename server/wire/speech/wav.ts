const HEADER = 44;
const ENDLESS = 0xff_ff_ff_ff;
export const BYTES_A_SAMPLE = 2;

/** A WAV file of mono 16-bit little-endian samples. */
export function wavOf(samples: Uint8Array, rate: number): Uint8Array {
  const file = Buffer.alloc(HEADER + samples.byteLength);
  file.set(headerOf(rate, HEADER - 8 + samples.byteLength, samples.byteLength));
  file.set(samples, HEADER);
  return file;
}

/** A header for samples of unknown length, with the maximum lengths filled in. */
export function openWavHeader(rate: number): Uint8Array {
  return headerOf(rate, ENDLESS, ENDLESS);
}

function headerOf(rate: number, riffBytes: number, dataBytes: number): Uint8Array {
  const file = Buffer.alloc(HEADER);
  file.write("RIFF", 0);
  file.writeUInt32LE(riffBytes, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * BYTES_A_SAMPLE, 28);
  file.writeUInt16LE(BYTES_A_SAMPLE, 32);
  file.writeUInt16LE(8 * BYTES_A_SAMPLE, 34);
  file.write("data", 36);
  file.writeUInt32LE(dataBytes, 40);
  return file;
}
