import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { Malformed } from "./shapes.ts";
import { newMessage, oldMessage } from "./v03-objects.ts";
import { present } from "./v03-parts.ts";
import { newPushConfig } from "./v03-push-config.ts";

export function newSendParams(params: JsonObject): JsonObject {
  const { message, configuration, metadata } = params;
  if (configuration != null && !isObject(configuration)) throw new Malformed("configuration", "must be an object");
  const pushConfig = isObject(configuration)
    ? present({
        acceptedOutputModes: configuration.acceptedOutputModes,
        historyLength: configuration.historyLength,
        // If unset, v0.3 leaves this to the agent; the official clients wait.
        returnImmediately: configuration.blocking === false ? true : undefined,
        taskPushNotificationConfig:
          configuration.pushNotificationConfig == null
            ? undefined
            : newPushConfig(configuration.pushNotificationConfig, "configuration.pushNotificationConfig"),
      })
    : undefined;
  return { message: newMessage(message, "message"), ...present({ configuration: pushConfig, metadata }) };
}

export function oldSendParams({ message, configuration, metadata }: JsonObject, blocking: boolean): JsonObject {
  const settings = isObject(configuration) ? configuration : {};
  return {
    message: oldMessage(message, "message"),
    configuration: present({ acceptedOutputModes: settings.acceptedOutputModes ?? [], historyLength: settings.historyLength, blocking }),
    ...present({ metadata }),
  };
}
