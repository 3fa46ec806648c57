import type { Socket } from "bun";
import { MessageReader } from "../wire/message-reader.ts";
import type { AnswerChecker } from "./answer-checker.ts";

export interface Tally {
  /** The connection has nothing to do: sooner or later it is to send a call or to rest. */
  free(connection: Connection): void;
  complete(startedAt: number, firstByteAt: number, now: number): void;
  fail(message: string): void;
  /** The connection starts no more calls. */
  idle(): void;
}

/** One keep-alive connection that sends the same call again and again, one at a time. */
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

  /** Sends a call; what it takes counts from `since` on. */
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

  /** Asks for a call, unless there is to be none. */
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
    // A target that refuses everything is not to be hammered for the rest of the time.
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
    // Closed between two calls, which keep-alive allows: open another and go on.
    this.open().then(
      () => this.ready(),
      (error: Error) => this.#broken(error.message),
    );
  }
}
