import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { plainEnvironment } from "../processes/environment.ts";
import { placed } from "../processes/placement.ts";
import { register } from "../processes/registry.ts";
import { scratchDirectory } from "../processes/scratch.ts";
import { freePort } from "../../tests/support/processes/free-port.ts";
import { respondsAt } from "./readiness.ts";
import { plainEndpoint, type StartTarget, UPSTREAM_MODEL } from "./target.ts";

const folder = fileURLToPath(new URL("../peer/", import.meta.url));
const python = `${folder}python/bin/python`;
const INSTALL_MS = 300_000;

async function run(command: string[], name: string): Promise<void> {
  const child = Bun.spawn(command, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  register({ name, pid: child.pid, exited: child.exited });
  const timer = setTimeout(() => child.kill(), INSTALL_MS);
  const said = await new Response(child.stderr).text();
  clearTimeout(timer);
  if ((await child.exited) !== 0) throw new Error(`LiteLLM cannot be installed: ${said.trim().split("\n").slice(-3).join(" ")}`);
}

async function install(): Promise<void> {
  if (existsSync(`${folder}python/bin/litellm`)) return;
  console.log("Installing LiteLLM into bench/peer/python …");
  await run(["python3", "-m", "venv", `${folder}python`], "python");
  await run([python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "-r", `${folder}litellm.txt`], "pip");
}

/** LiteLLM's proxy started as documented, with one worker process, one model, a master key and no database. */
export const startLiteLlm: StartTarget = async (upstream) => {
  await install();
  const port = await freePort();
  const config = `${scratchDirectory()}/litellm.yaml`;
  const parameters = { model: `openai/${UPSTREAM_MODEL}`, api_base: `http://127.0.0.1:${upstream.port}/v1`, api_key: "sk-bench-upstream" };
  // JSON is valid YAML.
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [{ model_name: UPSTREAM_MODEL, litellm_params: parameters }],
      general_settings: { master_key: "sk-bench-master" },
    }),
  );
  const command = [
    `${folder}python/bin/litellm`,
    "--config",
    config,
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--telemetry",
    "False",
  ];
  const child = Bun.spawn(placed("target", command), {
    cwd: scratchDirectory(),
    // Uses the bundled price table; otherwise it is fetched at every start.
    env: plainEnvironment({ LITELLM_LOCAL_MODEL_COST_MAP: "True", NO_PROXY: "127.0.0.1" }),
    stdio: ["ignore", "ignore", "ignore"],
  });
  register({ name: "litellm", pid: child.pid, exited: child.exited });
  await respondsAt(`http://127.0.0.1:${port}/health/liveliness`, child.exited, 120_000);
  return {
    name: "litellm",
    pid: child.pid,
    prepare: async ({ call }) => plainEndpoint(port, call, { authorization: "Bearer sk-bench-master" }),
  };
};
