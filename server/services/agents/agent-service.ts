import { AgentTasks } from "../../directory/agents/tasks.ts";
import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { isDatabaseAway } from "../../kernel/database-away.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { Job } from "../../kernel/scheduling/job.ts";
import type { Log } from "../../kernel/log.ts";
import type { AdmissionParts } from "../../road/admission/admit.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { LastingStreams } from "../../road/send/lasting-streams.ts";
import type { Outlet } from "../../road/outlet.ts";
import { agentOf, type AgentRoute } from "../../road/target.ts";
import type { RequestView } from "../../road/view.ts";
import { agentUpstream, type AgentUpstream } from "../../upstreams/agents/agent-client.ts";
import type { AgentSend } from "../../upstreams/agents/agent-send.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { type AgentParts, baseOf } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";
import { refreshCards } from "./card-refresh.ts";
import { cardDiscovery } from "./discover-card.ts";
import { PushDeliveries } from "./push-deliveries.ts";
import { type PublicDocuments, publicDocuments } from "./public-documents.ts";
import { pushConfigOperation } from "./push-configs.ts";
import { sendMessage } from "./send-message.ts";
import { ServedCards } from "./served-cards.ts";
import { streamMessage, subscribeToTask } from "./stream-task.ts";
import { cancelTask, getTask, listTasks } from "./task-operations.ts";
import { ownerHasAccess, type TaskOwner } from "./task-owner.ts";
import { TaskWatches } from "./task-watches.ts";
import { recordUnheardCosts, type UnheardCostParts } from "./unheard-costs.ts";
import { writeAnswer } from "./write-answer.ts";

/** The agent service as used by surfaces. */
export interface AgentService {
  call(call: Call, request: AgentRequest, view: RequestView): Promise<Answer | Refusal>;
  readonly documents: PublicDocuments;
}

export interface AgentServiceOptions extends AdmissionParts {
  readonly directory: Directory;
  readonly gates: Gates;
  readonly outletTo: (upstream: AgentUpstream) => Outlet<AgentUpstream>;
  readonly send: AgentSend;
  readonly log: Log;
  readonly publicUrl: string | null;
  readonly gatewayOrigins: readonly string[];
  readonly allowPrivate: boolean;
  readonly isLeftToProxy: AgentParts["isLeftToProxy"];
  readonly calls: UnheardCostParts["calls"];
  readonly budgets: UnheardCostParts["budgets"];
}

const STREAMS_CHECKED_MS = 1_000;
const WATCHED_MS = 2_000;
const DELIVERED_MS = 1_000;
const COST_INTERVAL_MS = 1_000;
const REFRESHED_MS = 60_000;
const PRUNED_MS = 600_000;

/**
 * Decides whether a refusal ends a task's stream. Streams continue when the caller's token expires, as calls to models do, and when the
 * agent's skills differ from those of the grant: in neither case was access revoked.
 */
function streamVerdict(refusal: Refusal | null): Refusal | null {
  return refusal?.reason === "credential_expired" || refusal?.code === "agent_grant_outdated" ? null : refusal;
}

/** Opens the agent service, which runs until `close`. After `stop` its jobs no longer wait for agents. */
export function openAgents(options: AgentServiceOptions) {
  const { directory, gates, secrets, clock, log, snapshots, send, publicUrl, allowPrivate, isLeftToProxy } = options;
  const upstream = agentUpstream(send);
  const tasks = new AgentTasks(directory.db, secrets);
  const parts: AgentParts = {
    outlet: options.outletTo(upstream),
    gates,
    tasks,
    secrets,
    clock,
    log,
    publicUrl,
    allowPrivate,
    isLeftToProxy,
  };
  const cards = new ServedCards({ clock, log, publicUrl, gatewayOrigins: options.gatewayOrigins });
  const discover = cardDiscovery(send);
  const hasAccessNow = (owner: TaskOwner) => ownerHasAccess(owner, { snapshots, users: options.users, tasks });
  const watches = new TaskWatches({ tasks, snapshots, gates, upstream, hasAccessNow, clock, log });
  const deliveries = new PushDeliveries({ tasks, snapshots, gates, send, hasAccessNow, clock, log });
  const stopping = new AbortController();
  const streams = new LastingStreams(gates, streamVerdict);
  const agents: AgentService = {
    async call(call, request, view) {
      const route = agentOf(call);
      if (route === null) throw new Error("a call was dispatched that no control had resolved");
      try {
        const answer = await answered(call, route, request);
        if ("kind" in answer && answer.kind === "stream") streams.follow(call, view);
        return answer;
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        return refuse("database_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
      }
    },
    documents: publicDocuments({ snapshots, cards, publicUrl, clock }),
  };

  function answered(call: Call, route: AgentRoute, request: AgentRequest): Promise<Answer | Refusal> | Answer | Refusal {
    switch (request.operation) {
      case "SendMessage":
        return sendMessage(call, route, request, parts);
      case "SendStreamingMessage":
        return streamMessage(call, route, request, parts);
      case "GetTask":
        return getTask(call, route, request, parts);
      case "ListTasks":
        return listTasks(call, route, request, parts);
      case "CancelTask":
        return cancelTask(call, route, request, parts);
      case "SubscribeToTask":
        return subscribeToTask(call, route, request, parts);
      case "GetExtendedAgentCard":
        return extendedCard(call, route, request);
      default:
        return pushConfigOperation(call, route, request, parts);
    }
  }

  /** The card, limited to the skills that the caller's group may use. */
  function extendedCard(call: Call, { agent, skills }: AgentRoute, { version, writer }: AgentRequest): Answer | Refusal {
    const { reached } = agent;
    if (reached === null || call.tenant === null) return refuse("agent_undiscovered");
    const terms = { base: baseOf(parts, call), version, skills, tenantId: call.tenant.id };
    const { text } = cards.read(call.tenant.agents, { ...agent, reached }, terms);
    return writeAnswer(() => writer.whole({ kind: "card", card: JSON.parse(text) as JsonObject }));
  }

  const jobs: Job[] = [
    { name: "check_agent_streams", everyMs: STREAMS_CHECKED_MS, run: () => streams.check() },
    { name: "watch_agent_tasks", everyMs: WATCHED_MS, run: () => watches.poll() },
    { name: "tell_agent_costs", everyMs: COST_INTERVAL_MS, run: () => recordUnheardCosts({ ...options, tasks }) },
    { name: "deliver_agent_notifications", everyMs: DELIVERED_MS, run: () => deliveries.deliver() },
    { name: "refresh_agent_cards", everyMs: REFRESHED_MS, run: () => refreshCards(directory, discover, log, stopping.signal) },
    { name: "prune_agent_tasks", everyMs: PRUNED_MS, run: () => tasks.prune() },
  ];
  return { agents, jobs, stop: () => stopping.abort(new Error("the gateway stops")), close: () => watches.close() };
}
