import { type ChildProcess, spawn } from "node:child_process";

/** Request handlers by name. If one throws, the error's message is sent to the other end. */
export type Answerers = Readonly<Record<string, (value: never) => unknown>>;

/** Request and response channel to another process, in both directions. */
export interface ProcessChannel {
  /** Rejects if the other end refuses or is gone. */
  ask(name: string, value?: unknown): Promise<unknown>;
  /** Sends without waiting for a response. Does nothing if the other end is gone. */
  tell(name: string, value?: unknown): void;
  /** Sets the request handlers; until then requests from the other end are refused. */
  answer(answerers: Answerers): void;
}

/**
 * `[number, name, value]` is a request, `[number, true, value]` its response, `[number, false, message]` a refusal; requests with number 0
 * want no response.
 */
type Message = readonly [number: number, name: string | boolean, value: unknown];

interface PendingRequest {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Ends {
  send(messages: readonly Message[]): void;
}

class Channel implements ProcessChannel {
  private readonly ends: Ends;
  /** Indexed by number minus one. Numbers are reused once answered; a map would retain entries that calls wait for (see `Roster`). */
  private pending: (PendingRequest | undefined)[] = [];
  private readonly free: number[] = [];
  private answerers: Answerers = {};
  private outgoing: Message[] = [];
  private gone = false;

  constructor(ends: Ends) {
    this.ends = ends;
  }

  ask(name: string, value?: unknown): Promise<unknown> {
    if (this.gone) return Promise.reject(new Error("the process at the other end is gone"));
    const number = this.free.pop() ?? this.pending.length + 1;
    this.send([number, name, value]);
    return new Promise((resolve, reject) => {
      this.pending[number - 1] = { resolve, reject };
    });
  }

  tell(name: string, value?: unknown): void {
    this.send([0, name, value]);
  }

  answer(answerers: Answerers): void {
    this.answerers = answerers;
  }

  receive(messages: readonly Message[]): void {
    for (const [number, name, value] of messages) {
      if (typeof name === "string") this.carryOut(number, name, value);
      else {
        const waiting = this.pending[number - 1];
        if (waiting === undefined) continue;
        this.pending[number - 1] = undefined;
        this.free.push(number);
        if (name) waiting.resolve(value);
        else waiting.reject(new Error(String(value)));
      }
    }
  }

  close(): void {
    this.gone = true;
    for (const waiting of this.pending) waiting?.reject(new Error("the process at the other end is gone"));
    this.pending = [];
  }

  private carryOut(number: number, name: string, value: unknown): void {
    const refuse = (error: unknown) => this.send([number, false, (error as Error).message]);
    try {
      const answerer = this.answerers[name];
      if (answerer === undefined) throw new Error(`nothing answers ${name} here`);
      const result = answerer(value as never);
      if (result instanceof Promise)
        result.then(
          (found) => this.send([number, true, found]),
          (error: unknown) => refuse(error),
        );
      else this.send([number, true, result]);
    } catch (error) {
      refuse(error);
    }
  }

  /** Messages of one turn of the event loop are sent together. */
  private send(message: Message): void {
    if (this.gone || (message[0] === 0 && typeof message[1] !== "string")) return;
    if (this.outgoing.push(message) > 1) return;
    setImmediate(() => {
      const messages = this.outgoing;
      this.outgoing = [];
      if (!this.gone) this.ends.send(messages);
    });
  }
}

export interface ChildOfOurs {
  readonly pid: number;
  readonly channel: ProcessChannel;
  /** Resolves with its exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts another process of this program, sharing standard output and error, with a channel to it. */
export function startProcess(file: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): ChildOfOurs {
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, file, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
    env: { ...env, GATEHOUSE_LAUNCHER_PID: String(process.pid) },
  });
  const channel = new Channel({ send: (messages) => child.connected && child.send(messages as never) });
  child.on("message", (messages) => channel.receive(messages as never));
  child.on("disconnect", () => channel.close());
  // The child could not be started or reached; its exit reports that.
  child.on("error", () => channel.close());
  const exited = new Promise<number | string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? code ?? "lost"));
    child.once("error", (error) => child.pid === undefined && resolve(error.message));
  });
  void exited.then(() => channel.close());
  return { pid: child.pid ?? 0, channel, exited, kill: (signal) => void child.kill(signal) };
}

/** The channel to the process that started this one. Throws if it was not started by `startProcess`. */
export function channelToParent(): ProcessChannel {
  const send = process.send?.bind(process);
  if (send === undefined) throw new Error("this process is started by another one of the gateway, and by nobody else");
  const channel = new Channel({ send: (messages) => process.connected && send(messages) });
  process.on("message", (messages) => channel.receive(messages as never));
  process.on("disconnect", () => channel.close());
  return channel;
}
