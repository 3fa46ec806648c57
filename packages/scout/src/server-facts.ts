import { hasVariable, isRemoteAddress, toldEndpoint } from "./endpoint.ts";
import { itemsIn, type Members, membersOf } from "./parse-config.ts";

/** All that is told of a tool server. What its configuration holds beside it stays on the device: it may hold secrets anywhere. */
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
/** Programs that run a package which is named among their arguments, with what may stand before its name. */
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
/** Programs that stand between a client and a server elsewhere. */
const BRIDGES = /(?:^|\/)(?:mcp-remote|supergateway|mcp-proxy)$/;

const texts = (value: unknown): string[] => itemsIn(value).filter((item) => typeof item === "string");
const sizeOf = (...values: readonly unknown[]) => values.reduce((sum: number, value) => sum + Object.keys(membersOf(value)).length, 0);

/** The name of the program, without its path and ending; anything not on the list is `other`. */
function commandName(command: string): string {
  const name = (/[^/\\]+$/.exec(command)?.[0] ?? "").toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, "");
  return COMMANDS.has(name) ? name : "other";
}

/** The package a runner is told to run. An option that is not known may take the next word for itself, so nothing is told then. */
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

/** Clients write a command as a text, as a text with arguments, as a list, or as an object. */
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
  const said = typeof entry.type === "string" ? entry.type : entry.transport;
  return said === "sse" ? "sse" : "http";
}

/** Null for what tells of no server: neither a command nor an address. */
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
  const endpoint = remote === undefined ? null : toldEndpoint(remote, gatewayOrigins);
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
