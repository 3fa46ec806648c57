import { posix, win32 } from "node:path";

export type Platform = "linux" | "darwin" | "win32";

/** Where a platform keeps the configuration of users and administrators. */
export interface Places {
  readonly join: (...parts: string[]) => string;
  readonly home: string;
  /** Configuration of desktop applications: Application Support, ~/.config or %APPDATA%. */
  readonly applications: string;
  /** ~/.config, or %APPDATA% on Windows. */
  readonly config: string;
  /** Configuration managed by administrators. */
  readonly managed: (application: "ClaudeCode" | "codex") => string;
}

export function placesOf(platform: Platform, home: string): Places {
  if (platform === "win32") {
    const roaming = win32.join(home, "AppData", "Roaming");
    const managed = { ClaudeCode: "C:\\Program DeviceFiles\\ClaudeCode", codex: "C:\\ProgramData\\OpenAI\\Codex" };
    return { join: win32.join, home, applications: roaming, config: roaming, managed: (application) => managed[application] };
  }
  const config = posix.join(home, ".config");
  if (platform === "darwin")
    return {
      join: posix.join,
      home,
      applications: posix.join(home, "Library", "Application Support"),
      config,
      managed: (application) => (application === "codex" ? "/etc/codex" : "/Library/Application Support/ClaudeCode"),
    };
  return {
    join: posix.join,
    home,
    applications: config,
    config,
    managed: (application) => (application === "codex" ? "/etc/codex" : "/etc/claude-code"),
  };
}
