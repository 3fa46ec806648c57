/**
 * Reads HTTP/1.1 messages from a socket's pieces: the head, then a body of known length or in chunks. Hand-written because both ends of the
 * benchmark must cost far less than what is between them.
 */

type Stage = "head" | "fixed" | "size" | "data" | "data-end" | "trailer" | "complete";

const CR = 13;
const LF = 10;
const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);

export class MessageReader {
  head = "";
  /** Bytes of `body` that belong to this message; the rest of the buffer is spare capacity. */
  length = 0;
  body: Buffer;
  readonly #bodiless: (head: string) => boolean;
  #stage: Stage = "head";
  #pending: Buffer = NOTHING;
  #remaining = 0;
  #trailerLine = 0;

  /** `bodiless` decides whether a head with neither a length nor chunks means no body (a request) or is an error. */
  constructor(bodiless: (head: string) => boolean, room = 16_384) {
    this.#bodiless = bodiless;
    this.body = Buffer.allocUnsafe(room);
  }

  get complete(): boolean {
    return this.#stage === "complete";
  }

  /** Resets for the next message. */
  reset(): void {
    this.#stage = "head";
    this.length = 0;
  }

  /** Consumes bytes from offset `at`. Returns where it stopped: the end of `data`, or the end of the message. */
  push(data: Buffer, at = 0): number {
    let position = at;
    while (position < data.length && this.#stage !== "complete") {
      switch (this.#stage) {
        case "head":
          position = this.#readHead(data, position);
          break;
        case "fixed":
        case "data":
          position = this.#readData(data, position);
          break;
        case "size":
          position = this.#readSize(data, position);
          break;
        default:
          position = this.#readLineEnd(data, position);
      }
    }
    return position;
  }

  #readHead(piece: Buffer, at: number): number {
    const kept = this.#pending.length;
    const data = kept === 0 ? piece : Buffer.concat([this.#pending, piece.subarray(at)]);
    const from = kept === 0 ? at : 0;
    const end = data.indexOf(HEAD_END, from);
    if (end === -1) {
      this.#pending = Buffer.from(data.subarray(from));
      return piece.length;
    }
    this.#pending = NOTHING;
    this.head = data.toString("latin1", from, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.head);
    if (length) {
      this.#remaining = Number(length[1]);
      this.#stage = this.#remaining === 0 ? "complete" : "fixed";
    } else if (/\r\ntransfer-encoding: *chunked/i.test(this.head)) {
      this.#remaining = 0;
      this.#stage = "size";
    } else if (this.#bodiless(this.head)) {
      this.#stage = "complete";
    } else {
      throw new Error("a message without a length");
    }
    return kept === 0 ? end + 4 : at + (end + 4 - kept);
  }

  #readData(data: Buffer, at: number): number {
    const size = Math.min(this.#remaining, data.length - at);
    if (this.length + size > this.body.length) {
      const larger = Buffer.allocUnsafe(2 * (this.length + size));
      this.body.copy(larger, 0, 0, this.length);
      this.body = larger;
    }
    data.copy(this.body, this.length, at, at + size);
    this.length += size;
    this.#remaining -= size;
    if (this.#remaining === 0) this.#stage = this.#stage === "fixed" ? "complete" : "data-end";
    return at + size;
  }

  #readSize(data: Buffer, at: number): number {
    for (let position = at; position < data.length; position++) {
      const byte = data[position] as number;
      if (byte === LF) {
        this.#trailerLine = 0;
        this.#stage = this.#remaining === 0 ? "trailer" : "data";
        return position + 1;
      }
      if (byte === CR) continue;
      const digit = byte >= 48 && byte <= 57 ? byte - 48 : (byte | 32) >= 97 && (byte | 32) <= 102 ? (byte | 32) - 87 : -1;
      if (digit === -1) throw new Error("a chunk size that is no number");
      this.#remaining = this.#remaining * 16 + digit;
    }
    return data.length;
  }

  /** The line end after a chunk's data, or the trailer lines after the last chunk up to the empty line. */
  #readLineEnd(data: Buffer, at: number): number {
    for (let position = at; position < data.length; position++) {
      const byte = data[position] as number;
      if (byte === LF) {
        if (this.#stage === "data-end") {
          this.#remaining = 0;
          this.#stage = "size";
          return position + 1;
        }
        if (this.#trailerLine === 0) {
          this.#stage = "complete";
          return position + 1;
        }
        this.#trailerLine = 0;
      } else if (byte !== CR) this.#trailerLine++;
    }
    return data.length;
  }
}
