import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import { withHistory } from "../../wire/a2a/folded-task.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";
import { CallExtensions } from "./call-extensions.ts";
import { prepareMessage } from "./prepare-message.ts";
import { inspectEvent } from "./inspect-event.ts";
import { outgoingHeaders } from "./outgoing-chain.ts";
import { keepKnownTask, keepTask } from "./own-tasks.ts";
import { keepPushConfig, queueReceivedNotifications } from "./push-configs.ts";
import { ReportedCost } from "./reported-cost.ts";
import { writeAnswer } from "./write-answer.ts";

/** Sends a message to an agent and waits for its answer. */
export async function sendMessage(call: Call, route: AgentRoute, request: AgentRequest, parts: AgentParts): Promise<Answer | Refusal> {
  const extensions = new CallExtensions(call, route);
  if (extensions.missing !== null) return extensions.missing;
  const work = await prepareMessage(call, route, request.params, parts);
  if (isRefusal(work)) return work;
  const { passage, params, names, before, pushConfig, historyLength, refused } = work;
  const unrecorded = parts.outlet.depart(call, route.agent.reached?.endpoint ?? "", JSON.stringify(params));
  if (unrecorded !== null) return refused(unrecorded);
  const event = await passage.upstream.ask({
    agent: route.agent,
    operation: "SendMessage",
    params,
    headers: { ...outgoingHeaders(call, route, parts), ...extensions.headers },
    abort: call.abort,
    hear: extensions.noteAnswered,
  });
  if (isRefusal(event)) return refused(event);
  const cost = new ReportedCost(call, route, false, parts);
  await cost.take(event);
  const refusal = (await names.take(event)) ?? (await inspectEvent(call, parts.gates, event));
  if (refusal !== null) return refusal;
  const extensionHeaders = extensions.responseHeaders(request.version);
  if (event.kind === "message") return writeAnswer(() => request.writer.whole({ kind: "event", event }), extensionHeaders);
  if (event.kind !== "task") return refuse("agent_invalid_response");
  call.row.custom_metadata = {
    ...(call.row.custom_metadata as object | null | undefined),
    a2a_task_id: String(event.value.id).slice(0, 200),
  };
  const others = await (before === null ? keepTask : keepKnownTask)(call, route, request, event.value, parts);
  if (others !== null) return others;
  await cost.known();
  if (pushConfig !== null) {
    const row = { tenant_id: call.identity?.tenantId ?? "", agent_id: route.agent.id, id: String(event.value.id) };
    await keepPushConfig(row, pushConfig, request.version, parts);
    await queueReceivedNotifications(call, row, event, parts);
  }
  const shown = { ...event, value: withHistory(event.value, historyLength) };
  return writeAnswer(() => request.writer.whole({ kind: "event", event: shown }), extensionHeaders);
}
