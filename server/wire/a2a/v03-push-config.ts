import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { Malformed } from "./shapes.ts";
import { present } from "./v03-parts.ts";

/** Translates the push configurations of A2A v0.3 to v1.0 and back. */

/** A v0.3 configuration lists schemes; in v1.0 it has exactly one. */
export function newPushConfig(value: JsonValue | undefined, at: string): JsonObject {
  if (!isObject(value)) throw new Malformed(at, "must be an object");
  const { id, url, token, authentication } = value;
  if (authentication == null) return present({ id, url, token });
  if (!isObject(authentication)) throw new Malformed(`${at}.authentication`, "must be an object");
  const { schemes, credentials } = authentication;
  const [scheme, ...others] = Array.isArray(schemes) ? schemes : [];
  if (typeof scheme !== "string" || others.length > 0)
    throw new Malformed(`${at}.authentication.schemes`, "must name one scheme: a notification is sent with one");
  return present({ id, url, token, authentication: present({ scheme, credentials }) });
}

export function oldPushConfig(config: JsonObject): JsonObject {
  const { id, url, token, authentication } = config;
  return present({
    id,
    url,
    token,
    authentication: isObject(authentication)
      ? present({
          schemes: typeof authentication.scheme === "string" ? [authentication.scheme] : [],
          credentials: authentication.credentials,
        })
      : undefined,
  });
}

/** The v0.3 form in which callers create a configuration and receive it. */
export const oldTaskPushConfig = (taskId: string, config: JsonObject): JsonObject => ({
  taskId,
  pushNotificationConfig: oldPushConfig(config),
});
