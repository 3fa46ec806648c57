import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { plainEnvironment } from "../processes/environment.ts";
import { placed } from "../processes/placement.ts";
import { register } from "../processes/registry.ts";
import { freePort } from "../../tests/support/processes/free-port.ts";
import { respondsAt } from "./readiness.ts";
import { plainEndpoint, type StartTarget } from "./target.ts";

const folder = fileURLToPath(new URL("../peer/", import.meta.url));
const entry = `${folder}node_modules/@portkey-ai/gateway/build/start-server.js`;

async function install(): Promise<void> {
  if (existsSync(entry)) return;
  console.log("Installing the peer into bench/peer …");
  // It runs without its install scripts.
  const npm = Bun.spawn(["npm", "ci", "--ignore-scripts", "--prefix", folder], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  register({ name: "npm", pid: npm.pid, exited: npm.exited });
  const timer = setTimeout(() => npm.kill(), 90_000);
  const said = await new Response(npm.stderr).text();
  clearTimeout(timer);
  if ((await npm.exited) !== 0) throw new Error(`the peer cannot be installed: ${said.trim().split("\n").slice(-3).join(" ")}`);
}

export const startPeer: StartTarget = async (upstream) => {
  await install();
  const port = await freePort();
  const child = Bun.spawn(placed("target", ["node", "--import", `${folder}loopback.mjs`, entry, `--port=${port}`, "--headless"]), {
    cwd: folder,
    env: plainEnvironment({ NODE_ENV: "production" }),
    stdio: ["ignore", "ignore", "ignore"],
  });
  register({ name: "peer", pid: child.pid, exited: child.exited });
  await respondsAt(`http://127.0.0.1:${port}/`, child.exited, 20_000);
  return {
    name: "peer",
    pid: child.pid,
    prepare: async ({ call }) =>
      plainEndpoint(port, call, {
        authorization: "Bearer sk-bench-upstream",
        "x-portkey-provider": call.upstreamFormat,
        "x-portkey-custom-host": `http://127.0.0.1:${upstream.port}/v1`,
      }),
  };
};
