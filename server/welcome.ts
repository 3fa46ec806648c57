import type { Gateway } from "./compose.ts";
import type { Configuration } from "./kernel/configuration/configuration.ts";

/** What a start prints: all addresses, the secrets just generated, and a command that works when pasted. */
export function welcome(gateway: Gateway, config: Configuration): string {
  const lines = ["", "Gatehouse is ready.", ""];
  const row = (name: string, value: string) => lines.push(`  ${name.padEnd(16)}${value}`);
  if (config.roles.includes("control")) row("console", `${gateway.adminUrl}/console/`);
  if (gateway.runtimeUrl !== null) row("portal", `${gateway.runtimeUrl}/portal/`);
  if (gateway.runtimeUrl !== null) row("runtime plane", `${gateway.runtimeUrl}   (API: ${gateway.runtimeUrl}/docs/)`);
  row(
    "control plane",
    config.roles.includes("control")
      ? `${gateway.adminUrl}   (API: ${gateway.adminUrl}/docs/)`
      : `${gateway.adminUrl}   (health and metrics only)`,
  );
  row("data", gateway.dataDir);
  row("database", gateway.database);

  const { made } = gateway;
  const secrets: [string, string][] = [];
  if (made.admin_password !== undefined) secrets.push(["administrator", `admin / ${made.admin_password}`]);
  if (made.portal_user !== undefined) secrets.push(["portal user", `${made.portal_user.username} / ${made.portal_user.password}`]);
  if (made.api_key !== undefined) secrets.push(["API key", made.api_key]);
  if (secrets.length > 0) {
    lines.push("", "Created now and shown only once:", "");
    for (const [name, value] of secrets) row(name, value);
  }
  if (gateway.notSignedInYet !== null && config.roles.includes("control"))
    lines.push(
      "",
      `Nobody has signed in to the console as ${gateway.notSignedInYet} yet. If the password was lost, print a new one:`,
      "",
      `  npx gatehouse reset-password ${gateway.notSignedInYet}`,
    );
  if (gateway.runtimeUrl !== null && gateway.firstModel !== null) {
    const body = JSON.stringify({ model: gateway.firstModel, stream: true, messages: [{ role: "user", content: "Hello, who is there?" }] });
    lines.push("", made.api_key === undefined ? "A governed call, with your key in GATEHOUSE_KEY:" : "Your first governed call:", "");
    const key = made.api_key ?? "$GATEHOUSE_KEY";
    lines.push(
      `  curl -N ${gateway.runtimeUrl}/v1/proxy/llm/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: ` +
        `application/json" -d '${body}'`,
    );
  }
  return `${lines.join("\n")}\n\n`;
}
