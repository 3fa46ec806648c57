/** A pkt-line of Git's protocol: its length in four hex digits, then its bytes. */
export const packetLine = (text: string) => (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;

export const DELIMITER = "0001";
export const FLUSH = "0000";

/** A line's bytes, or a separator between lines. */
export type Packet = Uint8Array | "flush" | "delimiter";

/** Parses a stream into packets. Throws if it is truncated or malformed. */
export async function* packetsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Packet> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of stream) {
    rest = rest.byteLength === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    while (rest.byteLength >= 4) {
      const digits = rest.subarray(0, 4).toString("latin1");
      if (!/^[0-9a-f]{4}$/i.test(digits)) throw new Error("no line of Git");
      const length = Number.parseInt(digits, 16);
      if (length < 4) {
        if (length === 3) throw new Error("no line of Git");
        if (length !== 2) yield length === 0 ? "flush" : "delimiter";
        rest = rest.subarray(4);
        continue;
      }
      if (rest.byteLength < length) break;
      yield rest.subarray(4, length);
      rest = rest.subarray(length);
    }
  }
  if (rest.byteLength > 0) throw new Error("a line of Git is cut short");
}
