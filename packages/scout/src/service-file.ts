import type { Platform } from "./places.ts";

const xml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
/** Quotes a word for systemd, where percent signs, backslashes, quotes and dollar signs are special. */
const systemdWord = (text: string) =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
const windowsWord = (text: string) => (/[\s"]/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text);

/** The service definition in the platform's own format that keeps the scout running for the signed-in user. */
export function serviceFile(platform: Platform, words: readonly string[]): string {
  if (platform === "darwin")
    return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ~/Library/LaunchAgents/gatehouse.scout.plist, then: launchctl load ~/Library/LaunchAgents/gatehouse.scout.plist -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>Label</key><string>gatehouse.scout</string>
  <key>ProgramArguments</key><array>${words.map((word) => `<string>${xml(word)}</string>`).join("")}</array>
  <key>RunAtLoad</key><true/><key>KeepAlive</key><true/>
</dict></plist>
`;
  if (platform === "win32") {
    const [program = "", ...rest] = words;
    return `<?xml version="1.0" encoding="UTF-16"?>
<!-- gatehouse-scout.xml, then: schtasks /Create /TN "Gatehouse scout" /XML gatehouse-scout.xml -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings><ExecutionTimeLimit>PT0S</ExecutionTimeLimit></Settings>
  <Actions><Exec><Command>${xml(program)}</Command><Arguments>${xml(rest.map(windowsWord).join(" "))}</Arguments></Exec></Actions>
</Task>
`;
  }
  return `# ~/.config/systemd/user/gatehouse-scout.service, then: systemctl --user enable --now gatehouse-scout
[Unit]
Description=Tells a Gatehouse of the AI clients and tool servers on this device
After=network-online.target

[Service]
ExecStart=${words.map(systemdWord).join(" ")}
Restart=on-failure
RestartSec=60
NoNewPrivileges=yes
ProtectSystem=full

[Install]
WantedBy=default.target
`;
}
