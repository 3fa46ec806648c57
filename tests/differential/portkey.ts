import { fileURLToPath } from "node:url";
import { freePort } from "../support/processes/free-port.ts";
import { type LastingProcess, startLasting } from "../support/processes/lasting-process.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** Providers by the name that the other gateway expects in a header of each call. */
export type PortkeyProvider = "openai" | "anthropic" | "google" | "bedrock";

export interface Portkey {
  /** Calls its OpenAI-compatible or native API for a provider at `origin`. */
  call(provider: PortkeyProvider, origin: string, path: string, body: unknown): Promise<Response>;
  stop(): Promise<void>;
}

const START = fileURLToPath(new URL("../../node_modules/@portkey-ai/gateway/build/start-server.js", import.meta.url));

/** Starts the other gateway from its npm package in a process of its own. */
export async function startPortkey(): Promise<Portkey> {
  const port = await freePort();
  const gateway = await startLasting([process.execPath, START, `--port=${port}`, "--headless"]);
  const base = `http://127.0.0.1:${port}`;
  await answers(base, gateway);
  return {
    call: (provider, origin, path, body) =>
      fetch(`${base}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: "Bearer vendor-key",
          "x-portkey-provider": provider,
          "x-portkey-custom-host": provider === "openai" || provider === "anthropic" ? `${origin}/v1` : origin,
          ...(provider === "bedrock"
            ? { "x-portkey-aws-access-key-id": "AKIAFAKE", "x-portkey-aws-secret-access-key": "fake", "x-portkey-aws-region": "us-east-1" }
            : {}),
        },
        body: JSON.stringify(body),
      }),
    async stop() {
      gateway.kill("SIGTERM");
      await gateway.exited;
    },
  };
}

async function answers(base: string, gateway: LastingProcess): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until && gateway.exitCode() === undefined; await Bun.sleep(50)) {
    if (
      await fetch(base).then(
        () => true,
        () => false,
      )
    )
      return;
  }
  throw new Error("the other gateway did not start");
}
