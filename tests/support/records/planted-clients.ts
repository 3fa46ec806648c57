import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A text that occurs nowhere else; nothing that leaves a device may contain it. */
export const SECRET = "planted5ecret";

let count = 0;
const secret = () => `${SECRET}${++count}`;

/** Every place in a server entry where people put secrets. */
const process = (name: string) => ({
  command: `/opt/${secret()}/npx`,
  args: [
    "-y",
    `${name}-package@1.2.3`,
    "--token",
    secret(),
    "-k",
    secret(),
    `--api-key=${secret()}`,
    secret(),
    `https://x.example/?key=${secret()}`,
  ],
  env: { [secret()]: secret(), API_KEY: secret() },
});
const remote = (key: string) => ({
  [key]: `https://${secret()}:${secret()}@mcp.vendor.example/${secret()}/mcp?key=${secret()}#${secret()}`,
  headers: { Authorization: `Bearer ${secret()}`, [`X-${secret()}`]: secret() },
});

const toml = (gateway: string) => `
model_provider = "ours"
[model_providers.ours]
base_url = "${gateway}/v1/proxy/llm"
[mcp_servers.codex-process]
command = "${process("codex").command}"
args = ${JSON.stringify(process("codex").args)}
env = { TOKEN = "${secret()}" }
[mcp_servers.codex-remote]
url = "https://mcp.vendor.example/${secret()}"
http_headers = { Authorization = "${secret()}" }
`;

const yaml = `
name: assistant
models:
  - name: m
    apiBase: https://models.vendor.example/${SECRET}
    apiKey: ${SECRET}
mcpServers:
  - name: continue-process
    command: uvx
    args: ["--from", "continue-package", "run", "${SECRET}"]
    env: { TOKEN: ${SECRET} }
  - name: continue-remote
    type: sse
    url: https://mcp.vendor.example/${SECRET}
  - "${SECRET}"
`;

const goose = `
GOOSE_PROVIDER: x
extensions:
  goose-process: { type: stdio, cmd: uvx, args: [goose-package, ${SECRET}], envs: { A: ${SECRET} }, enabled: true }
  goose-off: { type: stdio, cmd: npx, args: [goose-off], enabled: false }
  developer: { type: builtin, name: developer }
`;

/** The names of all planted servers, and of the clients that have them. */
export interface Planted {
  readonly servers: readonly string[];
  readonly clients: readonly string[];
}

/**
 * Creates a home with the configuration files of more than twelve clients, full of secrets, including broken files and entries. `serverId`:
 * a tool server of the gateway.
 */
export function plantClients(home: string, gateway: string, serverId: string): Planted {
  const write = (path: string, content: unknown) => {
    const at = join(home, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, typeof content === "string" ? content : JSON.stringify(content));
  };
  const both = (name: string, key = "url") => ({ [`${name}-process`]: process(name), [`${name}-remote`]: remote(key) });
  const through = { url: `${gateway}/v1/proxy/mcp/${serverId}`, headers: { "x-api-key": secret() } };
  const project = join(home, "work", "project");

  write(".config/Claude/claude_desktop_config.json", { mcpServers: both("claude-desktop") });
  write(".claude.json", {
    oauthAccount: { token: secret() },
    mcpServers: { "claude-code-governed": through },
    projects: { [project]: { mcpServers: { "claude-code-of-project": process("claude-code") } } },
  });
  write(".claude/settings.json", { env: { ANTHROPIC_BASE_URL: `${gateway}`, ANTHROPIC_AUTH_TOKEN: secret() } });
  write(".claude/plugins/cache/market/plugin/.mcp.json", { mcpServers: { "claude-code-plugin": process("plugin") } });
  write("work/project/.mcp.json", { mcpServers: { "claude-code-shared": remote("url") } });
  write(
    ".cursor/mcp.json",
    `{ // comments are allowed\n "mcpServers": { "cursor-governed": ${JSON.stringify(through)}, "broken": 7, "empty": {}, "cursor-process": ${JSON.stringify(process("cursor"))}, },\n}`,
  );
  write("work/project/.cursor/mcp.json", { mcpServers: { "cursor-of-project": remote("url") } });
  write(".config/Code/User/mcp.json", { inputs: [{ id: secret() }], servers: both("vscode") });
  write(".config/Code/User/settings.json", { "mcp.servers": { "vscode-old": process("vscode") } });
  write(".copilot/mcp-config.json", { mcpServers: { "copilot-process": process("copilot") } });
  write(".codeium/windsurf/mcp_config.json", { mcpServers: both("windsurf", "serverUrl") });
  write(".config/zed/settings.json", {
    context_servers: {
      "zed-process": { source: "custom", ...process("zed") },
      "zed-nested": { command: { path: "node", args: [secret()], env: { A: secret() } } },
    },
  });
  write(".codex/config.toml", toml(gateway));
  write(".gemini/settings.json", { mcpServers: both("gemini", "httpUrl"), apiKey: secret() });
  write(".continue/config.yaml", yaml);
  write(".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", {
    mcpServers: {
      "cline-bridge": { command: "npx", args: ["-y", "mcp-remote@latest", `${gateway}/v1/proxy/mcp/${serverId}`, "--header", secret()] },
      "cline-off": { ...process("cline"), disabled: true },
    },
  });
  write(".junie/mcp/mcp.json", { mcpServers: both("junie") });
  write(".lmstudio/mcp.json", { mcpServers: { "lm-studio-variable": { url: "https://${HOST}/mcp" } } });
  write(".config/goose/config.yaml", goose);
  write(".config/goose/secrets.yaml", `TOKEN: ${SECRET}\n`);
  write(".config/opencode/opencode.json", {
    mcp: {
      "opencode-local": { type: "local", command: ["bunx", "opencode-package", secret()], environment: { A: secret() }, enabled: true },
    },
  });
  write(".ollama/models/manifests/none", "");
  // Files that cannot be parsed as what they claim to be, and one that leads out of the home.
  write(".kiro/settings/mcp.json", `{"mcpServers": {"${SECRET}": `);
  write(".config/Code - Insiders/User/mcp.json", `{"servers": ${"[".repeat(100)}`);
  const outside = join(dirname(home), "outside.json");
  writeFileSync(outside, JSON.stringify({ mcpServers: { [`outside-${SECRET}`]: process("outside") } }));
  mkdirSync(join(home, ".aws", "amazonq"), { recursive: true });
  symlinkSync(outside, join(home, ".aws", "amazonq", "mcp.json"));

  return {
    servers: [
      ...["claude-desktop", "vscode", "windsurf", "gemini", "junie", "codex", "continue"].flatMap((name) => [
        `${name}-process`,
        `${name}-remote`,
      ]),
      ...["claude-code-governed", "claude-code-of-project", "claude-code-plugin", "claude-code-shared"],
      ...["cursor-governed", "cursor-process", "cursor-of-project", "vscode-old", "copilot-process", "zed-process", "zed-nested"],
      ...["cline-bridge", "cline-off", "lm-studio-variable", "goose-process", "goose-off", "opencode-local"],
    ].sort(),
    clients: [
      "Claude Code",
      "Claude Desktop",
      "Cline",
      "Codex",
      "Continue",
      "Cursor",
      "Gemini CLI",
      "Goose",
      "JetBrains Junie",
      "Kiro",
      "LM Studio",
      "Ollama",
      "Visual Studio Code",
      "Windsurf",
      "Zed",
      "opencode",
    ],
  };
}
