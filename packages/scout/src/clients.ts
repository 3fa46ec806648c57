import type { Syntax } from "./parse-config.ts";
import type { Places } from "./places.ts";

export type ConfigScope = "user" | "project" | "managed";

/** A client's configuration file, and the member names that lead to the servers in it. */
export interface ConfigFile {
  readonly path: string;
  readonly syntax: Syntax;
  readonly servers: readonly (readonly string[])[];
  readonly scope: ConfigScope;
  /** All files in the folder `path` with matching names, down to this depth. */
  readonly below?: { readonly named: RegExp; readonly depth: number };
}

interface Client {
  readonly client: string;
  readonly name: string;
  files(places: Places): readonly ConfigFile[];
  /** Files in a project's folder. */
  project?(join: Places["join"], folder: string): readonly ConfigFile[];
}

const MCP_SERVERS = [["mcpServers"]] as const;
const file = (
  path: string,
  servers: ConfigFile["servers"] = MCP_SERVERS,
  syntax: Syntax = "json",
  scope: ConfigScope = "user",
): ConfigFile => ({ path, syntax, servers, scope });
const ofProject = (path: string, servers: ConfigFile["servers"] = MCP_SERVERS, syntax: Syntax = "json") =>
  file(path, servers, syntax, "project");
const EDITORS = ["Code", "Code - Insiders"];
const CODEX = [["mcp_servers"]] as const;
const ZED = [["context_servers"]] as const;

/** Every supported client with its files; no other files are read. */
export const CLIENTS: readonly Client[] = [
  {
    client: "claude_desktop",
    name: "Claude Desktop",
    files: ({ join, applications }) => [file(join(applications, "Claude", "claude_desktop_config.json"))],
  },
  {
    client: "claude_code",
    name: "Claude Code",
    files: ({ join, home, managed }) => [
      file(join(home, ".claude.json"), [["mcpServers"], ["projects", "*", "mcpServers"]]),
      file(join(home, ".claude", "settings.json")),
      { ...file(join(home, ".claude", "plugins", "cache")), below: { named: /^\.mcp\.json$/, depth: 5 } },
      file(join(managed("ClaudeCode"), "managed-mcp.json"), MCP_SERVERS, "json", "managed"),
    ],
    project: (join, folder) => [ofProject(join(folder, ".mcp.json"))],
  },
  {
    client: "cursor",
    name: "Cursor",
    files: ({ join, home }) => [file(join(home, ".cursor", "mcp.json"))],
    project: (join, folder) => [ofProject(join(folder, ".cursor", "mcp.json"))],
  },
  {
    client: "vscode",
    name: "Visual Studio Code",
    files: ({ join, applications, home }) => [
      ...EDITORS.flatMap((editor) => [
        file(join(applications, editor, "User", "mcp.json"), [["servers"]]),
        file(join(applications, editor, "User", "settings.json"), [["mcp", "servers"], ["mcp.servers"]]),
      ]),
      file(join(home, ".copilot", "mcp-config.json")),
    ],
    project: (join, folder) => [ofProject(join(folder, ".vscode", "mcp.json"), [["servers"]])],
  },
  { client: "windsurf", name: "Windsurf", files: ({ join, home }) => [file(join(home, ".codeium", "windsurf", "mcp_config.json"))] },
  {
    client: "zed",
    name: "Zed",
    files: ({ join, home, config }) => [
      file(join(config, "zed", "settings.json"), ZED),
      file(join(config, "Zed", "settings.json"), ZED),
      file(join(home, ".zed", "settings.json"), ZED),
    ],
    project: (join, folder) => [ofProject(join(folder, ".zed", "settings.json"), ZED)],
  },
  {
    client: "codex",
    name: "Codex",
    files: ({ join, home, managed }) => [
      file(join(home, ".codex", "config.toml"), CODEX, "toml"),
      { ...file(join(home, ".codex"), CODEX, "toml"), below: { named: /^[^/\\]+\.config\.toml$/, depth: 1 } },
      file(join(managed("codex"), "config.toml"), CODEX, "toml", "managed"),
    ],
    project: (join, folder) => [ofProject(join(folder, ".codex", "config.toml"), CODEX, "toml")],
  },
  {
    client: "gemini_cli",
    name: "Gemini CLI",
    files: ({ join, home }) => [file(join(home, ".gemini", "settings.json"))],
    project: (join, folder) => [ofProject(join(folder, ".gemini", "settings.json"))],
  },
  {
    client: "antigravity",
    name: "Antigravity",
    files: ({ join, home }) => [file(join(home, ".gemini", "antigravity", "mcp_config.json"))],
  },
  {
    client: "continue",
    name: "Continue",
    files: ({ join, home }) => [
      file(join(home, ".continue", "config.yaml"), MCP_SERVERS, "yaml"),
      file(join(home, ".continue", "config.json"), [["mcpServers"], ["experimental", "modelContextProtocolServers"]]),
    ],
    project: (join, folder) => [
      { ...ofProject(join(folder, ".continue", "mcpServers"), MCP_SERVERS, "yaml"), below: { named: /\.ya?ml$/, depth: 1 } },
      { ...ofProject(join(folder, ".continue", "mcpServers")), below: { named: /\.json$/, depth: 1 } },
    ],
  },
  {
    client: "cline",
    name: "Cline",
    files: ({ join, applications, home }) => [
      ...EDITORS.map((editor) =>
        file(join(applications, editor, "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")),
      ),
      file(join(home, ".cline", "data", "settings", "cline_mcp_settings.json")),
    ],
  },
  {
    client: "junie",
    name: "JetBrains Junie",
    files: ({ join, home }) => [file(join(home, ".junie", "mcp", "mcp.json"))],
    project: (join, folder) => [ofProject(join(folder, ".junie", "mcp", "mcp.json"))],
  },
  {
    client: "lm_studio",
    name: "LM Studio",
    files: ({ join, home }) => [file(join(home, ".lmstudio", "mcp.json")), file(join(home, ".cache", "lm-studio", "mcp.json"))],
  },
  {
    client: "goose",
    name: "Goose",
    files: ({ join, config, applications }) => [
      file(join(config, "goose", "config.yaml"), [["extensions"]], "yaml"),
      file(join(applications, "Block", "goose", "config", "config.yaml"), [["extensions"]], "yaml"),
    ],
  },
  {
    client: "opencode",
    name: "opencode",
    files: ({ join, home, config }) =>
      [join(config, "opencode"), join(home, ".config", "opencode")].flatMap((folder) => [
        file(join(folder, "opencode.json"), [["mcp"]]),
        file(join(folder, "opencode.jsonc"), [["mcp"]]),
      ]),
  },
  { client: "kiro", name: "Kiro", files: ({ join, home }) => [file(join(home, ".kiro", "settings", "mcp.json"))] },
  { client: "amazon_q", name: "Amazon Q", files: ({ join, home }) => [file(join(home, ".aws", "amazonq", "mcp.json"))] },
];

/** Programs that serve models and configure no tool servers; their folder shows that they are installed. */
export const MODEL_SERVERS: readonly { readonly client: string; readonly name: string; readonly folder: string }[] = [
  { client: "ollama", name: "Ollama", folder: ".ollama" },
];
