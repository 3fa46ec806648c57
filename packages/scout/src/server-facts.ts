import { hasVariable, isRemoteAddress, reportedEndpoint } from "./endpoint.ts";
import { itemsIn, type Members, membersOf } from "./parse-config.ts";

/** Everything that is reported about a tool server. The rest of its configuration stays on the device, because it may contain secrets. */
export interface ServerFacts {
  readonly endpoints: readonly string[];
  readonly transport: "stdio" | "http" | "sse";
  readonly command?: string;
  readonly package?: string;
  readonly package_version?: string;
  readonly args_count: number;
  readonly env_count: number;
  readonly header_count: number;
  readonly inactive?: true;
  readonly unresolved?: true;
}

const COMMANDS = new Set(
  "npx npm pnpm yarn bunx bun node deno uvx uv pipx python python3 docker podman java go dotnet cargo ruby php bash sh zsh cmd powershell pwsh wsl".split(
    " ",
  ),
);
/** Programs that run a package named in their arguments, with the words that may precede its name. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  uvx: [],
  pnpm: ["dlx"],
  yarn: ["dlx"],
  npm: ["exec"],
  pipx: ["run"],
  uv: ["tool", "run", "x"],
};
const FLAGS_ALONE = new Set(["-y", "--yes", "-q", "--quiet", "--"]);
const FLAGS_BEFORE_PACKAGE = new Set(["-p", "--package", "--from"]);
const PACKAGE = /^((?:@[a-z0-9][\w.-]{0,60}\/)?[A-Za-z0-9][\w.-]{0,100})(?:(?:@|==)([\w.+-]{1,40}))?$/;
/** Programs that bridge a local client to a remote server. */
const BRIDGES = /(?:^|\/)(?:mcp-remote|supergateway|mcp-proxy)$/;

const texts = (value: unknown): string[] => itemsIn(value).filter((item) => typeof item === "string");
const sizeOf = (...values: readonly unknown[]) => values.reduce((sum: number, value) => sum + Object.keys(membersOf(value)).length, 0);

/** The program's name without path and extension; `other` if it is not listed. */
function commandName(command: string): string {
  const name = (/[^/\\]+$/.exec(command)?.[0] ?? "").toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, "");
  return COMMANDS.has(name) ? name : "other";
}

/** The package a runner is told to run. Null after an unknown option, which may consume the next word. */
function packageOf(command: string, args: readonly string[]): { name: string; version?: string } | null {
  const before = RUNNERS[command];
  if (before === undefined) return null;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (FLAGS_ALONE.has(arg) || before.includes(arg)) continue;
    const named = FLAGS_BEFORE_PACKAGE.has(arg) ? (args[at + 1] ?? "") : arg;
    const [, name, version] = named.startsWith("-") ? [] : (PACKAGE.exec(named) ?? []);
    return name === undefined ? null : { name, ...(version === undefined ? {} : { version }) };
  }
  return null;
}

/** Clients write a command as a string, a string with arguments, a list, or an object. */
function commandOf(entry: Members): { command: string | null; args: string[] } {
  const { command, cmd, args } = entry;
  if (Array.isArray(command)) {
    const [first = null, ...rest] = texts(command);
    return { command: first, args: rest };
  }
  const nested = membersOf(command);
  if (typeof nested.path === "string") return { command: nested.path, args: texts(nested.args) };
  const given = typeof command === "string" ? command : typeof cmd === "string" ? cmd : null;
  if (given === null) return { command: null, args: [] };
  const [first = "", ...rest] = args === undefined ? given.trim().split(/\s+/) : [given];
  return { command: first, args: [...rest, ...texts(args)] };
}

const URL_MEMBERS = ["url", "serverUrl", "httpUrl", "uri"] as const;

function transportOf(entry: Members, isRemote: boolean): ServerFacts["transport"] {
  if (!isRemote) return "stdio";
  const transport = typeof entry.type === "string" ? entry.type : entry.transport;
  return transport === "sse" ? "sse" : "http";
}

/** Null if the entry has neither a command nor an address. */
export function serverFacts(value: unknown, gatewayOrigins: ReadonlySet<string>): ServerFacts | null {
  const entry = membersOf(value);
  const inner = membersOf(entry.transport);
  const given = { ...inner, ...entry };
  const address = URL_MEMBERS.map((name) => given[name]).find((found) => typeof found === "string" && found !== "");
  const { command, args } = commandOf(given);
  if (address === undefined && (command === null || command === "")) return null;
  const name = command === null ? null : commandName(command);
  const runs = name === null ? null : packageOf(name, args);
  const isBridge =
    command !== null && [command, ...args].some((word) => BRIDGES.test(word.replace(/[@:][\w.+-]+$/, "").replace(/\.(?:exe|cmd)$/, "")));
  const bridged = isBridge ? args.map((arg) => arg.replace(/^--?[\w-]+=/, "")).find(isRemoteAddress) : undefined;
  const remote = address ?? bridged;
  const endpoint = remote === undefined ? null : reportedEndpoint(remote, gatewayOrigins);
  const request = membersOf(given.requestOptions);
  const isInactive = given.disabled === true || given.enabled === false || given.isActive === false;
  const unknown = typeof remote === "string" && hasVariable(remote);
  return {
    endpoints: endpoint === null ? [] : [endpoint],
    transport: transportOf(given, address !== undefined),
    ...(name === null ? {} : { command: name }),
    ...(runs === null ? {} : { package: runs.name, ...(runs.version === undefined ? {} : { package_version: runs.version }) }),
    args_count: args.length,
    env_count: sizeOf(given.env, given.envs, given.environment, membersOf(given.command).env),
    header_count: sizeOf(given.headers, given.http_headers, given.env_http_headers, request.headers),
    ...(isInactive ? { inactive: true as const } : {}),
    ...(unknown ? { unresolved: true as const } : {}),
  };
}
