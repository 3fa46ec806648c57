import { spawn } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../support/gateway.ts";

export type Revision = "2025-11-25" | "2026-07-28";

/** What the suite says of one scenario it requires; `failures` are the checks that failed. */
export interface Verdict {
  readonly scenario: string;
  readonly passed: boolean;
  readonly failures: readonly string[];
}

const SUITE = fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url));

async function run(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [SUITE, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (output += piece.toString()));
  await new Promise<void>((resolve) => child.once("close", () => resolve()));
  return output;
}

/** Runs what a revision requires of servers against the one at `url`. Scenarios beyond that are left out. */
export async function judge(url: string, revision: Revision): Promise<Verdict[]> {
  const out = await temporaryDirectory();
  try {
    const [listed, output] = [await run(["list", "--server", "--requirements", revision]), await run(["server", "--url", url, "--requirements", revision, "-o", out, "--timeout", "10000"])];
    const required = [...(listed.split("Client scenarios")[0] ?? "").matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name as string);
    const folders = await readdir(out);
    return await Promise.all(
      required.map(async (scenario) => {
        const passed = new RegExp(`^✓ ${scenario}: [1-9]`, "m").test(output);
        const folder = folders.find((name) => name.startsWith(`server-${scenario}-20`));
        const checks = passed || folder === undefined ? [] : (JSON.parse(await readFile(`${out}/${folder}/checks.json`, "utf8")) as { id: string; status: string; errorMessage?: string }[]);
        return { scenario, passed, failures: checks.filter(({ status }) => status === "FAILURE").map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ""}`) };
      }),
    );
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
