import { isObject, type JsonObject, type JsonValue } from "../document.ts";
import { Malformed } from "./shapes.ts";
import { newMessage, oldMessage } from "./v03-objects.ts";
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

export function newSendParams(params: JsonObject): JsonObject {
  const { message, configuration, metadata } = params;
  if (configuration != null && !isObject(configuration)) throw new Malformed("configuration", "must be an object");
  const told = isObject(configuration)
    ? present({
        acceptedOutputModes: configuration.acceptedOutputModes,
        historyLength: configuration.historyLength,
        // A v0.3 agent chooses when nobody says; the protocol's own clients wait.
        returnImmediately: configuration.blocking === false ? true : undefined,
        taskPushNotificationConfig:
          configuration.pushNotificationConfig == null
            ? undefined
            : newPushConfig(configuration.pushNotificationConfig, "configuration.pushNotificationConfig"),
      })
    : undefined;
  return { message: newMessage(message, "message"), ...present({ configuration: told, metadata }) };
}

export function oldSendParams({ message, configuration, metadata }: JsonObject, blocking: boolean): JsonObject {
  const told = isObject(configuration) ? configuration : {};
  return {
    message: oldMessage(message, "message"),
    configuration: present({ acceptedOutputModes: told.acceptedOutputModes ?? [], historyLength: told.historyLength, blocking }),
    ...present({ metadata }),
  };
}
