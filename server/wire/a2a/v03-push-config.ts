import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { Malformed } from "./shapes.ts";
import { present } from "./v03-parts.ts";

/** What callers of A2A v0.3 ask for, from and to what v1.0 calls it. */

/** A v0.3 push configuration, which a v1.0 one says flat and with one scheme. */
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

/** The configuration as callers create and are answered with it. */
export const oldTaskPushConfig = (taskId: string, config: JsonObject): JsonObject => ({
  taskId,
  pushNotificationConfig: oldPushConfig(config),
});
