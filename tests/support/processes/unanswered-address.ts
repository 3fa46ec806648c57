import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Listens and never accepts: once its queue is full, connections to it get no answer. */
const PROGRAM = `
  const [host, port] = process.argv.slice(-2);
  const server = require("node:net").createServer();
  server.listen({ host, port: Number(port), backlog: 1 }, () => {
    require("node:fs").writeSync(1, server.address().port + "\\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

export interface UnansweredAddress {
  readonly port: number;
  stop(): void;
}

/** An address that answers no attempt to connect, like one behind a firewall that drops packets. Port 0 picks a free one. */
export async function startUnansweredAddress(host: string, port: number): Promise<UnansweredAddress> {
  const child: ChildProcess = spawn(process.execPath, ["-e", PROGRAM, host, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const listening = Number(printed.toString());
  const waiting: Socket[] = [];
  // Until two in a row are not taken any more.
  for (let silent = 0; silent < 2;) {
    const socket = connect(listening, host);
    socket.on("error", () => undefined);
    waiting.push(socket);
    const connected = once(socket, "connect").then(() => true);
    // On a stalled machine the timer may be due before the connection is noticed, so events get a turn first.
    const stillWaiting = Bun.sleep(500).then(async () => (await new Promise((resolve) => setImmediate(resolve)), !socket.connecting));
    const taken = await Promise.race([connected, stillWaiting]);
    silent = taken ? 0 : silent + 1;
  }
  return {
    port: listening,
    stop() {
      for (const socket of waiting) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}
