import { spawn } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";

export type Revision = "2025-11-25" | "2026-07-28";

/** The suite's verdict on one required scenario. `failures` are the failed checks and, if the client crashed, its output. */
export interface ScenarioVerdict {
  readonly scenario: string;
  readonly passed: boolean;
  readonly failures: readonly string[];
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly description: string;
  readonly errorMessage?: string;
}

function failed(checks: readonly Check[]): string[] {
  return checks
    .filter(({ status }) => status === "FAILURE")
    .map(({ id, description, errorMessage }) => `${id}: ${errorMessage ?? description}`);
}

const SUITE = fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url));

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, [SUITE, ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (output += piece.toString()));
  await new Promise<void>((resolve) => child.once("close", () => resolve()));
  return output;
}

const lists = new Map<Revision, Promise<string>>();

/** What the suite prints about the scenarios that a revision requires of servers. */
function listed(revision: Revision): Promise<string> {
  const list = lists.get(revision) ?? run(["list", "--server", "--requirements", revision]);
  lists.set(revision, list);
  return list;
}

/** Runs the scenarios that a revision requires of servers against the one at `url`; leaves out all others. */
export async function judge(url: string, revision: Revision): Promise<ScenarioVerdict[]> {
  const out = await temporaryDirectory();
  try {
    const output = await run(["server", "--url", url, "--requirements", revision, "-o", out, "--timeout", String(PATIENCE_MS)]);
    const required = [...((await listed(revision)).split("Client scenarios")[0] ?? "").matchAll(/^ {2}- (\S+)/gm)].map(
      ([, name]) => name as string,
    );
    const folders = await readdir(out);
    return await Promise.all(
      required.map(async (scenario) => {
        const passed = new RegExp(`^✓ ${scenario}: [1-9]`, "m").test(output);
        const folder = folders.find((name) => name.startsWith(`server-${scenario}-20`));
        const checks =
          passed || folder === undefined ? [] : (JSON.parse(await readFile(`${out}/${folder}/checks.json`, "utf8")) as Check[]);
        return { scenario, passed, failures: failed(checks) };
      }),
    );
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Runs one server scenario against `url`, whether or not a revision requires it. */
export async function judgeServer(url: string, scenario: string, revision: Revision): Promise<ScenarioVerdict> {
  const out = await temporaryDirectory();
  try {
    const chosen = ["--scenario", scenario, "--spec-version", revision, "--force"];
    const output = await run(["server", "--url", url, ...chosen, "-o", out, "--timeout", String(PATIENCE_MS)]);
    const file = (await readdir(out, { recursive: true })).find((name) => name.endsWith("checks.json"));
    if (file === undefined) return { scenario, passed: false, failures: [output.slice(-2000)] };
    const checks = JSON.parse(await readFile(`${out}/${file}`, "utf8")) as Check[];
    return { scenario, passed: checks.some(({ status }) => status === "SUCCESS") && failed(checks).length === 0, failures: failed(checks) };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Runs one client scenario with `command` as the client; `env` is added to the environment that the suite sets. */
export async function judgeClient(
  command: string,
  scenario: string,
  revision: Revision,
  env: Readonly<Record<string, string>>,
): Promise<ScenarioVerdict> {
  const out = await temporaryDirectory();
  try {
    const output = await run(
      ["client", "--command", command, "--scenario", scenario, "--spec-version", revision, "-o", out, "--timeout", String(PATIENCE_MS)],
      env,
    );
    // A scenario in a group has its results in a subfolder of the group's.
    const file = (await readdir(out, { recursive: true })).find((name) => name.endsWith("checks.json"));
    if (file === undefined) return { scenario, passed: false, failures: [output.slice(-2000)] };
    const checks = JSON.parse(await readFile(`${out}/${file}`, "utf8")) as Check[];
    // Some checks pass for a client that does nothing, so a crashed client would pass them too.
    const broken = /^Client exited with code [\s\S]*/m.exec(output)?.[0];
    const failures = [...failed(checks), ...(broken === undefined ? [] : [broken.slice(0, 2000)])];
    return { scenario, passed: checks.some(({ status }) => status === "SUCCESS") && failures.length === 0, failures };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
