const D = 100;
const LF = 10;
/** A line that belongs to a keep-alive: a comment, or part of an event of that kind, which some vendors send instead. */
const KEEP_ALIVE_LINE = /^(?::.*|(?:event|id|retry):.*|data: *\{ *"type" *: *"(?:ping|keepalive)".*\}|)$/;
/** Longer unfinished lines are events. */
const MAX_START_LENGTH = 256;
const decoder = new TextDecoder("latin1");

/** Tells the keep-alives of an event stream from its answer. Stateful: one instance per stream. */
export class KeepAlives {
  /** The unfinished line at the end of the last piece. */
  private start = "";

  /** Whether a piece completes no line of the answer. */
  isOnly(piece: Uint8Array): boolean {
    // Almost all pieces are whole events.
    if (this.start === "" && piece.byteLength > MAX_START_LENGTH && piece[0] === D && piece.at(-1) === LF) return false;
    const lines = (this.start + decoder.decode(piece)).split(/\r\n|\n|\r/);
    const start = lines.pop() ?? "";
    const isLong = start.length > MAX_START_LENGTH;
    this.start = isLong ? start.slice(0, MAX_START_LENGTH) : start;
    return lines.every((line) => KEEP_ALIVE_LINE.test(line)) && (!isLong || start.startsWith(":"));
  }
}
