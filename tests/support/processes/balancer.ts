import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A minimal load balancer: round robin over the targets that were ready at its last check. */
export interface Balancer {
  readonly url: string;
  add(url: string): void;
  remove(url: string): void;
  /** Resolves once that target receives calls. */
  ready(url: string): Promise<void>;
  close(): Promise<void>;
}

const LOOKED_EVERY_MS = 100;

interface Backend {
  readonly url: string;
  up: boolean;
  readonly wasUp: PromiseWithResolvers<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const backends = new Map<string, Backend>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const look = async (backend: Backend) => {
    const up = await fetch(`${backend.url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
    backend.up = up;
    if (up) backend.wasUp.resolve();
  };
  const looking = setInterval(() => {
    for (const backend of backends.values()) void look(backend);
  }, LOOKED_EVERY_MS);
  const server: Server = createServer((incoming, outgoing) => {
    const ready = [...backends.values()].filter(({ up }) => up);
    const chosen = ready[turn++ % ready.length];
    if (chosen === undefined) return void outgoing.writeHead(503).end("no backend is ready");
    const { hostname, port } = new URL(chosen.url);
    const onward = request({ hostname, port, agent, method: incoming.method, path: incoming.url, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", (error) => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(error.message)));
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void backends.set(url, { url, up: false, wasUp: Promise.withResolvers() }),
    remove: (url) => void backends.delete(url),
    ready: (url) => backends.get(url)?.wasUp.promise ?? Promise.reject(new Error("no such backend")),
    async close() {
      clearInterval(looking);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
