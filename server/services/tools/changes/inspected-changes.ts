import { isRefusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { exactMessage } from "../../../wire/mcp/rpc.ts";
import { inspectedText } from "../answers/answer-gate.ts";
import type { OpenChanges } from "./listen.ts";
import type { ToolParts } from "../tool-parts.ts";

/** Inspects change notifications and log messages before they reach the caller. */
export function inspectedChanges(call: Call, open: OpenChanges, parts: Pick<ToolParts, "gates">): OpenChanges {
  if (!parts.gates.inspects(call, "mcp_output")) return open;
  // Several subscriptions may yield the same message object, which is inspected once and keeps its identity.
  const inspections = new WeakMap<JsonObject, Promise<JsonObject | null>>();
  const inspectMessage = async (message: JsonObject) => {
    const text = JSON.stringify(message);
    const inspected = await inspectedText(call, { text, value: message }, parts);
    if (inspected === null) return null;
    return inspected === text ? message : exactMessage(inspected, JSON.parse(inspected) as JsonObject);
  };
  async function* inspectedNotifications(notifications: AsyncGenerator<JsonObject, void>): AsyncGenerator<JsonObject, void> {
    for await (const message of notifications) {
      let one = inspections.get(message);
      if (one === undefined) inspections.set(message, (one = inspectMessage(message)));
      const seen = await one;
      if (seen !== null) yield seen;
    }
  }
  return async (filter, sender) => {
    const members = await open(filter, sender);
    return isRefusal(members)
      ? members
      : members.map((member) => ({ ...member, notifications: inspectedNotifications(member.notifications) }));
  };
}
