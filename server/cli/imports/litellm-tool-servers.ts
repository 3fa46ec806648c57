import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { notSet, variableNamed, type Variables } from "./litellm-variables.ts";
import { variableOf } from "./written-names.ts";

const SERVER_READ = new Set([
  "url",
  "transport",
  "auth_type",
  "auth_value",
  "authentication_token",
  "allowed_tools",
  "disallowed_tools",
  "description",
]);

export function addToolServers(servers: ConfigEntry, group: string, variables: Variables, into: Imported): void {
  for (const [name, given] of Object.entries(servers)) {
    const at = `mcp_servers.${name}`;
    const { found: server, unset } = variables.resolved(isConfigEntry(given) ? given : {});
    const { url, transport, auth_type: auth } = server;
    const unsetUrl = unset.get("url");
    if (unsetUrl !== undefined) {
      into.note(`${at}: was left out, because its address is not known: ${notSet(unsetUrl)}`);
      continue;
    }
    if (typeof url !== "string" || transport === "stdio") {
      into.note(
        `${at}: only servers that are reached over HTTP are called, so ${transport === undefined ? "one without a url" : `one of ${String(transport)}`} was left out`,
      );
      continue;
    }
    for (const member of Object.keys(server)) if (!SERVER_READ.has(member)) into.note(`${at}.${member}: has no equivalent`);
    if (!URL.canParse(url)) {
      into.note(`${at}: was left out, because its url is none: ${url}`);
      continue;
    }
    const { origin, pathname, search } = new URL(url);
    if (search !== "")
      into.note(`${at}.url: what stands behind the "?" has no equivalent and was left out; a key that stood there has to go another way`);
    const token = server["auth_value"] ?? server["authentication_token"];
    const isBearer = auth === "bearer_token" || auth === "bearer" || (auth === undefined && token !== undefined);
    if (auth !== undefined && auth !== "none" && !isBearer)
      into.note(`${at}.auth_type: ${String(auth)} has no equivalent; see docs/guides/tool-server-authorization.md`);
    into.add("mcp_servers", name, {
      name,
      base_url: origin,
      mcp_endpoint_path: pathname,
      ...(isBearer ? { auth_type: "bearer", api_key: secretOf(name, at, token, into) } : {}),
    });
    const allowed = server["allowed_tools"];
    const barred = server["disallowed_tools"];
    into.add("server_configs", name, {
      name,
      mcp_server_id: name,
      group_ids: [group],
      ...(Array.isArray(allowed) ? { enabled_tools: allowed } : {}),
      ...(Array.isArray(barred) ? { disabled_tools: barred } : {}),
    });
  }
}

function secretOf(name: string, at: string, token: ConfigValue | undefined, into: Imported): ConfigEntry {
  const variable = variableNamed(token);
  if (variable !== null) return into.secret(variable, `${at}: its token`);
  return into.namedSecret(`mcp ${name} ${JSON.stringify(token)}`, variableOf(`${name}_token`), `${at}: its token`);
}
