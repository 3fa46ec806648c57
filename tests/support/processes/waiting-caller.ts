import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { servingMsOf } from "./cpu-time.ts";

/**
 * A thread of its own asks for a small thing again and again, so that only the gateway can keep it waiting: over sockets of its
 * own, since all `fetch` of a process share one thread, which is busy with the stream that is looked at. It says "ready" after its
 * first answer, which waits for the thread itself, and tells the most processor time that its serving thread took while one
 * request waited, once it is told that all is over.
 */
const { runtimeUrl, pid } = workerData as { readonly runtimeUrl: string; readonly pid: number };
const { hostname, port } = new URL(runtimeUrl);

/** What the gateway's processor time came to when the answer was in; what it does next is the next request's to wait for. */
function answered(): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET /healthz HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`),
    );
    socket.on("data", (piece) => {
      answer += piece.toString("latin1");
      if (!answer.startsWith("HTTP/1.1 200")) return;
      resolve(servingMsOf(pid));
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`answered ${answer.slice(0, 200)}`)));
  });
}

let over = false;
parentPort?.on("message", () => (over = true));

await answered();
parentPort?.postMessage("ready", []);
let longest = 0;
do {
  const before = servingMsOf(pid);
  longest = Math.max(longest, (await answered()) - before);
} while (!over);
parentPort?.postMessage(longest, []);
