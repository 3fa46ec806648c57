/** A RIFF file of silence: PCM, one channel, 8,000 samples of 16 bits a second. */
export function wav(seconds: number): Buffer {
  const data = Buffer.alloc(Math.round(seconds * 8_000) * 2);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + data.byteLength, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(data.byteLength, 40);
  return Buffer.concat([head, data]);
}
