import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The content of the file in the agent's folder. */
export const FOUND = "the-word-in-the-file";

export interface AgentRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A terminal agent as installed by npm, run once against a gateway. */
export type CodingAgent = (
  gateway: { readonly runtimeUrl: string; readonly apiKey: string },
  model: string,
  prompt: string,
  /** Further command-line arguments. */
  more?: readonly string[],
) => Promise<AgentRun>;

/** The executable in the package for this platform. */
function programOf(name: string, program: string): string {
  const inside = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const platform = `${process.platform}-${process.arch}`;
  return join(dirname(createRequire(inside).resolve(`${name}-${platform}/package.json`)), program);
}

const triple = `${process.arch === "x64" ? "x86_64" : "aarch64"}-${process.platform === "darwin" ? "apple-darwin" : "unknown-linux-musl"}`;

/** Codex, which calls the Responses API. */
export const codex: CodingAgent = (gateway, model, prompt) =>
  inFolder(async (folder, home) => {
    await writeFile(
      join(home, "config.toml"),
      `model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "${gateway.runtimeUrl}/v1/proxy/llm"
wire_api = "responses"
env_key = "GATEWAY_KEY"
request_max_retries = 0
stream_max_retries = 0
`,
    );
    return run(
      [
        programOf("@openai/codex", `vendor/${triple}/bin/codex`),
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "-m",
        model,
        prompt,
      ],
      folder,
      { CODEX_HOME: home, HOME: home, GATEWAY_KEY: gateway.apiKey },
    );
  });

/** Claude Code, which calls the Messages API. */
export const claudeCode: CodingAgent = (gateway, model, prompt, more = []) =>
  inFolder((folder, home) =>
    run(
      [
        programOf("@anthropic-ai/claude-code", "claude"),
        "-p",
        prompt,
        "--model",
        model,
        "--output-format",
        "stream-json",
        "--verbose",
        "--allowedTools",
        "Bash,mcp__skills",
        ...more,
      ],
      folder,
      {
        HOME: home,
        ANTHROPIC_BASE_URL: gateway.runtimeUrl,
        ANTHROPIC_AUTH_TOKEN: gateway.apiKey,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_MAX_RETRIES: "0",
        ENABLE_TOOL_SEARCH: "false",
      },
    ),
  );

async function inFolder(work: (folder: string, home: string) => Promise<AgentRun>): Promise<AgentRun> {
  const folder = await mkdtemp(join(tmpdir(), "agent-work-"));
  const home = await mkdtemp(join(tmpdir(), "agent-home-"));
  try {
    await writeFile(join(folder, "word.txt"), FOUND);
    return await work(folder, home);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(home, { recursive: true, force: true });
  }
}

async function run(command: string[], cwd: string, env: Record<string, string>): Promise<AgentRun> {
  const child = Bun.spawn(command, { cwd, env: { PATH: process.env.PATH ?? "", ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}
