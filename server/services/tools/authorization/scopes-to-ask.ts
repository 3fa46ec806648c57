import { parseScopes } from "../../../wire/oauth/challenge.ts";
import type { Broker } from "./broker.ts";

export function scopesToAsk(broker: Broker, scope: string): string[] {
  const wanted = parseScopes(scope);
  const scopes = wanted.length > 0 ? wanted : [...broker.says.scopes];
  return broker.at.scopes.includes("offline_access") && !scopes.includes("offline_access") ? [...scopes, "offline_access"] : scopes;
}
