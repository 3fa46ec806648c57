import type { Socket } from "bun";
import { MessageReader } from "../wire/message-reader.ts";
import type { AnswerChecker } from "./answer-checker.ts";

export interface Tally {
  /** The connection is idle; the receiver must eventually let it send a call or rest. */
  free(connection: Connection): void;
  complete(startedAt: number, firstByteAt: number, now: number): void;
  fail(message: string): void;
  /** The connection starts no more calls. */
  idle(): void;
}

/** A keep-alive connection that sends the same call repeatedly, one at a time. */
export class Connection {
  readonly #request: Buffer;
  readonly #checker: AnswerChecker;
  readonly #tally: Tally;
  readonly #reader = new MessageReader(() => false);
  readonly #port: number;
  #socket: Socket | undefined;
  #unsent = 0;
  #startedAt = 0;
  #firstByteAt = 0;
  #inFlight = false;
  #done = false;
  #resting = false;
  #failures = 0;

  constructor(port: number, request: Buffer, checker: AnswerChecker, tally: Tally) {
    this.#port = port;
    this.#request = request;
    this.#checker = checker;
    this.#tally = tally;
  }

  async open(): Promise<void> {
    this.#socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: this.#port,
      socket: {
        open: (socket) => void socket.setNoDelay(true),
        data: (_, data) => this.#receive(data),
        drain: () => this.#write(),
        close: () => this.#closed(),
        error: (_, error) => this.#broken(error.message),
      },
    });
  }

  /** Sends a call; its latency is measured from `since`. */
  send(since = performance.now()): void {
    this.#inFlight = true;
    this.#unsent = this.#request.length;
    this.#reader.reset();
    this.#firstByteAt = 0;
    this.#startedAt = since;
    this.#write();
  }

  /** Sends no more calls. */
  rest(): void {
    this.#done = true;
    if (this.#resting) return;
    this.#resting = true;
    this.#tally.idle();
  }

  /** Requests the next call, unless the connection is done. */
  ready(): void {
    if (this.#done) this.rest();
    else this.#tally.free(this);
  }

  end(): void {
    this.#done = true;
    this.#socket?.end();
  }

  #write(): void {
    if (this.#unsent === 0 || !this.#socket) return;
    const rest = this.#unsent === this.#request.length ? this.#request : this.#request.subarray(this.#request.length - this.#unsent);
    this.#unsent -= Math.max(this.#socket.write(rest), 0);
  }

  #receive(data: Buffer): void {
    if (!this.#inFlight) return this.#broken("bytes nobody asked for");
    try {
      const end = this.#reader.push(data);
      if (this.#firstByteAt === 0 && this.#reader.length > 0) this.#firstByteAt = performance.now();
      if (!this.#reader.complete) return;
      if (end < data.length) return this.#broken("bytes beyond the answer");
    } catch (error) {
      return this.#broken((error as Error).message);
    }
    const now = performance.now();
    this.#inFlight = false;
    const problem = this.#checker.problem(this.#reader.head, this.#reader.body, this.#reader.length);
    if (problem === undefined) this.#tally.complete(this.#startedAt, this.#firstByteAt, now);
    else this.#failed(problem);
    this.ready();
  }

  #failed(message: string): void {
    this.#inFlight = false;
    // Stops hammering a target that refuses everything.
    if (++this.#failures >= 20) this.#done = true;
    this.#tally.fail(message);
  }

  #broken(message: string): void {
    if (this.#inFlight) this.#failed(message);
    this.rest();
    this.#socket?.terminate();
  }

  #closed(): void {
    if (this.#inFlight) return this.#broken("the connection closed before the answer was complete");
    if (this.#done) return;
    // The server closed the connection between calls, which keep-alive allows: reconnect and continue.
    this.open().then(
      () => this.ready(),
      (error: Error) => this.#broken(error.message),
    );
  }
}
