import { expect, test } from "bun:test";
import type { DeviceFiles } from "../../../packages/scout/src/files.ts";
import { placesOf, type Platform } from "../../../packages/scout/src/places.ts";
import { scanHome } from "../../../packages/scout/src/scan.ts";
import { serviceFile } from "../../../packages/scout/src/service-file.ts";

/** A device's files given as texts, for any platform. */
const diskOf = (texts: Readonly<Record<string, string>>): DeviceFiles => ({
  read: (path) => texts[path] ?? null,
  below: (folder) => Object.keys(texts).filter((path) => path.startsWith(folder)),
  isFolder: () => false,
});

const one = (name: string) => JSON.stringify({ mcpServers: { [name]: { command: "npx", args: ["x"] } } });

const DISKS: Readonly<Record<Exclude<Platform, "linux">, { readonly home: string; readonly texts: Readonly<Record<string, string>> }>> = {
  darwin: {
    home: "/Users/mary",
    texts: {
      "/Users/mary/Library/Application Support/Claude/claude_desktop_config.json": one("desktop"),
      "/Users/mary/Library/Application Support/Code/User/mcp.json": JSON.stringify({ servers: { code: { url: "https://a.example/b" } } }),
      "/Users/mary/.config/zed/settings.json": JSON.stringify({ context_servers: { zed: { command: "node", args: [] } } }),
      "/Library/Application Support/ClaudeCode/managed-mcp.json": one("managed"),
      "/etc/codex/config.toml": '[mcp_servers.codex]\ncommand = "node"\n',
    },
  },
  win32: {
    home: "C:\\Users\\mary",
    texts: {
      "C:\\Users\\mary\\AppData\\Roaming\\Claude\\claude_desktop_config.json": one("desktop"),
      "C:\\Users\\mary\\AppData\\Roaming\\Code\\User\\mcp.json": JSON.stringify({ servers: { code: { url: "https://a.example/b" } } }),
      "C:\\Users\\mary\\AppData\\Roaming\\Zed\\settings.json": JSON.stringify({
        context_servers: { zed: { command: "node.exe", args: [] } },
      }),
      "C:\\Program DeviceFiles\\ClaudeCode\\managed-mcp.json": one("managed"),
      "C:\\ProgramData\\OpenAI\\Codex\\config.toml": '[mcp_servers.codex]\ncommand = "C:\\\\tools\\\\node.exe"\n',
    },
  },
};

test.each(["darwin", "win32"] as const)("on %s the scout looks for files in that system's locations", (platform) => {
  const { home, texts } = DISKS[platform];
  const { servers } = scanHome(diskOf(texts), placesOf(platform, home), new Set());
  expect(servers.map(({ name, scope, facts }) => [name, scope, facts.command]).sort()).toEqual([
    ["code", "user", undefined],
    ["codex", "managed", "node"],
    ["desktop", "user", "npx"],
    ["managed", "managed", "npx"],
    ["zed", "user", "node"],
  ] as never);
});

test.each(["linux", "darwin", "win32"] as const)("the service file for %s quotes the command's arguments", (platform) => {
  const file = serviceFile(platform, ["/opt/a b/scout", "--device-name", '<"&%$>']);
  expect(file).not.toContain('<"&%$>');
  expect(file).toContain("a b");
});
