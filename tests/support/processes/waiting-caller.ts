import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { servingMsOf } from "./cpu-time.ts";

/**
 * A thread that makes a small request repeatedly, so that only the gateway can delay it. It uses its own sockets, because all `fetch` calls
 * of a process share one thread, which is busy with the stream under test. It posts "ready" after its first answer, which includes starting
 * the thread, and at the end the most CPU time the gateway's serving thread used while one request waited.
 */
const { runtimeUrl, pid } = workerData as { readonly runtimeUrl: string; readonly pid: number };
const { hostname, port } = new URL(runtimeUrl);

/** Resolves to the gateway's CPU time when the answer has arrived; later work counts for the next request. */
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
