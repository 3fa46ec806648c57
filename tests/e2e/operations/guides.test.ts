import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildPages } from "../../support/worlds/built-pages.ts";
import { testDatabase } from "../../support/database.ts";
import { freePort } from "../../support/processes/free-port.ts";
import { ADMIN_PASSWORD, type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";

/**
 * Runs the first example of each guide as a reader would paste it, one guide after the other on one gateway. In the output shown, `…`
 * matches anything within its line and, alone on a line, any number of lines; everything else must match exactly.
 */
const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const GUIDES = readdirSync(`${PROJECT}docs/guides`)
  .filter((name) => name.endsWith(".md"))
  .sort();

/** A guide's title and introduction, its example, and the example's output. */
const OPENING = /^# [^\n]+\n\n(?:[^\n#`|-][^\n]*\n\n){1,2}```sh\n(.*?)```\n\n```(?:text|json)\n(.*?)```\n/s;
/** Ports of servers that an example starts itself. Each is replaced by a free port. */
const OWN_PORT = /\b91\d\d\b/g;

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const lineShown = (line: string) => (line === "…" ? "(?:.*\n)*" : `${line.split("…").map(escaped).join(".*")}\n`);
const shown = (expected: string) => new RegExp(`^${expected.trim().split("\n").map(lineShown).join("")}$`);

let gateway: GatewayProcess;
let environment: Record<string, string>;
let readme: Awaited<ReturnType<typeof run>>;
let closeDatabase: () => Promise<void>;

beforeAll(async () => {
  buildPages();
  const database = await testDatabase();
  closeDatabase = database.close;
  gateway = await startGateway({ databaseUrl: database.url });
  await until(() => gateway.output().includes("Your first governed call"));
  const made = (name: string) => new RegExp(`^ *${name} +(.+)$`, "m").exec(gateway.output())?.[1] ?? "";
  environment = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    GW_DATA_DIR: gateway.dataDir,
    DATABASE_URL: database.url,
    GATEHOUSE_KEY: made("API key"),
    ADMIN_PASSWORD,
    USER_PASSWORD: made("portal user").replace("user / ", ""),
  };
  readme = await runReadme();
});

afterAll(async () => {
  await gateway.stop();
  await closeDatabase();
  await removeDirectory(gateway.dataDir);
});

/**
 * Guides sleep for a second where something happens within one. On a busy machine this waits as long as needed: until the rows are in the
 * database and the started servers listen, or the process running the guide is gone.
 */
const patience = (ports: readonly string[]) => `
sleep() {
  again() { kill -0 $PPID 2> /dev/null || kill 0; command sleep 0.1; }
  command sleep "$1"
  until curl -s "$ADMIN/metrics" | grep -c '^gatehouse_ledger_unshipped_rows 0$' > /dev/null; do again; done
  for port in ${ports.join(" ")}; do until (: < /dev/tcp/127.0.0.1/$port) 2> /dev/null; do again; done; done
}
`;

async function run(script: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn("bash", ["-c", `set -euo pipefail\n${script}`], { cwd: PROJECT, env: environment, detached: true });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const closed = new Promise((resolve) => child.once("close", resolve));
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  // Servers that it left running keep its output open.
  try {
    process.kill(-(child.pid as number), "SIGKILL");
  } catch {
    // It left none running.
  }
  await closed;
  return { code, stdout, stderr };
}

/** Runs the commands that the README shows before the guides, and keeps the variables they set. */
async function runReadme(): Promise<Awaited<ReturnType<typeof run>>> {
  const blocks = [...readFileSync(`${PROJECT}README.md`, "utf8").matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block as string);
  const lines = blocks
    .filter((block) => !block.includes("npm "))
    .join("")
    .replaceAll("http://127.0.0.1:8080", gateway.runtimeUrl)
    .replaceAll("http://127.0.0.1:8081", gateway.adminUrl);
  const names = ["RUNTIME", "ADMIN", "TOKEN", "USER_TOKEN"];
  const ran = await run(`${lines}\nprintf '\\n%s' ${names.map((name) => `"$${name}"`).join(" ")}`);
  const values = ran.stdout.split("\n").slice(-names.length);
  for (const [at, name] of names.entries()) environment[name] = values[at] ?? "";
  return ran;
}

test("the README's commands set the variables that the guides use", () => {
  expect(readme).toMatchObject({ code: 0 });
  expect(readme.stdout).toContain("data: [DONE]");
  expect(readme.stdout).toContain("verdict       intact");
  expect(environment.RUNTIME).toBe(gateway.runtimeUrl);
  expect(environment.USER_TOKEN).toStartWith("ey");
});

describe("the example at the head of", () => {
  test.each(GUIDES)("%s runs and prints what the guide shows", async (name) => {
    const guide = readFileSync(`${PROJECT}docs/guides/${name}`, "utf8");
    const [, example = "", expected = ""] = OPENING.exec(guide) ?? [];
    expect(example, "the guide opens with an introduction, an sh block and a text block").not.toBe("");
    expect(example.trim().split("\n").length).toBeWithin(5, 15);
    const ports = new Map<string, string>();
    for (const [port] of example.matchAll(OWN_PORT)) if (!ports.has(port)) ports.set(port, String(await freePort()));
    const moved = (text: string) => text.replaceAll(OWN_PORT, (port) => ports.get(port) ?? port);
    const { code, stdout, stderr } = await run(patience([...ports.values()]) + moved(example));
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(`${stdout.replaceAll("\r", "").trim()}\n`).toMatch(shown(moved(expected)));
  });
});
