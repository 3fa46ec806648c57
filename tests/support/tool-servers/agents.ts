import type { AddressInfo } from "node:net";
import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import {
  InMemoryTaskStore as OldTaskStore,
  DefaultRequestHandler as OldRequestHandler,
  type AgentExecutor as OldExecutor,
} from "a2a-js-sdk-03/server";
import { jsonRpcHandler as oldJsonRpcHandler, UserBuilder as OldUserBuilder } from "a2a-js-sdk-03/server/express";
import express from "express";

/** An independent agent: the official SDK's server with an executor that does what a message's text says. */
export interface AgentFixture {
  readonly url: string;
  /** Requests received, newest last. */
  readonly requests: { readonly path: string; readonly headers: Record<string, string | string[] | undefined>; readonly body: any }[];
  /** Resumes every task that waits for it. */
  release(): void;
  /** Changes its card. */
  setCard(change: Record<string, unknown>): void;
  stop(): Promise<void>;
}

const SKILLS = [
  { id: "talk", name: "Talk", description: "Answers what it is told.", tags: ["talk"] },
  { id: "count", name: "Count", description: "Counts in steps.", tags: ["numbers"] },
];

const now = () => new Date().toISOString();
const textOf = (message: any): string => (message?.parts ?? []).map((part: any) => part.content?.value ?? part.text ?? "").join(" ");
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Publishes events in the JSON of v1.0. */
interface Publisher {
  task(value: Record<string, unknown>): void;
  status(state: string, text?: string, metadata?: Record<string, unknown>): void;
  artifact(value: Record<string, unknown>, rest?: Record<string, unknown>): void;
  message(text: string): void;
  data(value: unknown): void;
}

interface Held {
  /** Resolves at the next release. */
  readonly released: Promise<void>;
  isCancelled(taskId: string): boolean;
}

/**
 * Executes the verb at the beginning of the text: `complete X`, `message X`, `ask`, `count N`, `hold X`, `fail`, `cost N`, `spend N`, `pay
 * N`, `echo` and others below.
 */
async function act(text: string, taskId: string, isNew: boolean, publish: Publisher, held: Held): Promise<void> {
  const [verb, ...rest] = text.split(" ");
  const said = rest.join(" ");
  if (verb === "message") return publish.message(said);
  if (isNew) publish.task({ status: { state: "TASK_STATE_SUBMITTED", timestamp: now() } });
  if (verb === "ask") return publish.status("TASK_STATE_INPUT_REQUIRED", "Which one?");
  if (verb === "fail") return publish.status("TASK_STATE_FAILED", "It did not work.");
  if (verb === "data") {
    publish.data(JSON.parse(said));
    return publish.status("TASK_STATE_COMPLETED");
  }
  if (verb === "spend") {
    publish.status("TASK_STATE_WORKING");
    await held.released;
    publish.status("TASK_STATE_WORKING", "Nearly done.", { cost_usd: Number(said) / 2 });
    return publish.status("TASK_STATE_COMPLETED", "Done.", { cost_usd: Number(said) });
  }
  if (verb === "pay") {
    publish.status("TASK_STATE_WORKING", "Paid.", { cost_usd: Number(said) });
    await held.released;
    return publish.status("TASK_STATE_COMPLETED");
  }
  if (verb === "cost") return publish.status("TASK_STATE_COMPLETED", "Done.", { cost_usd: Number(said) });
  publish.status("TASK_STATE_WORKING");
  if (verb === "count") {
    const last = Number(said);
    for (let at = 1; at <= last; at++) {
      publish.artifact({ artifactId: "numbers", parts: [{ text: `${at};` }] }, { append: at > 1, lastChunk: at === last });
      await pause(20);
      if (held.isCancelled(taskId)) return;
    }
  } else if (verb === "pieces") {
    const pieces = JSON.parse(said) as string[];
    for (const [at, piece] of pieces.entries()) {
      publish.artifact({ artifactId: "pieces", parts: [{ text: piece }] }, { append: at > 0, lastChunk: at === pieces.length - 1 });
      await pause(5);
    }
  } else if (verb === "hold") {
    await held.released;
    if (held.isCancelled(taskId)) return;
    publish.artifact({ artifactId: "said", parts: [{ text: said }] });
  } else publish.artifact({ artifactId: "said", parts: [{ text: verb === "complete" ? said : text }] });
  publish.status("TASK_STATE_COMPLETED");
}

class Holds {
  private release: () => void = () => undefined;
  released = new Promise<void>((resolve) => (this.release = resolve));
  readonly cancelled = new Set<string>();
  isCancelled = (taskId: string) => this.cancelled.has(taskId);
  now(): void {
    this.release();
    this.released = new Promise<void>((resolve) => (this.release = resolve));
  }
}

class NewExecutor implements AgentExecutor {
  private readonly holds: Holds;
  constructor(holds: Holds) {
    this.holds = holds;
  }

  execute = async ({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const ids = { taskId, contextId };
    await act(
      textOf(userMessage),
      taskId,
      task === undefined,
      {
        task: (value) =>
          bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, contextId, history: [Message.toJSON(userMessage)], ...value }))),
        status: (state, text, metadata) =>
          bus.publish(
            AgentEvent.statusUpdate(
              TaskStatusUpdateEvent.fromJSON({
                ...ids,
                status: {
                  state,
                  timestamp: now(),
                  ...(text === undefined
                    ? {}
                    : { message: { messageId: crypto.randomUUID(), role: "ROLE_AGENT", parts: [{ text }], ...ids } }),
                },
                ...(metadata === undefined ? {} : { metadata }),
              }),
            ),
          ),
        artifact: (value, rest = {}) =>
          bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact: value, ...rest }))),
        message: (text) =>
          bus.publish(
            AgentEvent.message(Message.fromJSON({ messageId: crypto.randomUUID(), role: "ROLE_AGENT", contextId, parts: [{ text }] })),
          ),
        data: (value) =>
          bus.publish(
            AgentEvent.artifactUpdate(
              TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact: { artifactId: "data", parts: [{ data: value }] } }),
            ),
          ),
      },
      this.holds,
    );
    bus.finished();
  };

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    this.holds.cancelled.add(taskId);
    bus.publish(
      AgentEvent.statusUpdate(
        TaskStatusUpdateEvent.fromJSON({ taskId, contextId: "", status: { state: "TASK_STATE_CANCELED", timestamp: now() } }),
      ),
    );
    bus.finished();
  };
}

const OLD_STATES: Record<string, string> = {
  TASK_STATE_SUBMITTED: "submitted",
  TASK_STATE_WORKING: "working",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_FAILED: "failed",
  TASK_STATE_INPUT_REQUIRED: "input-required",
};

function oldExecutor(holds: Holds): OldExecutor {
  return {
    async execute({ userMessage, taskId, contextId, task }, bus) {
      const ids = { taskId, contextId };
      const part = (one: any) => (one.data === undefined ? { kind: "text", text: one.text } : { kind: "data", data: one.data });
      const send = (event: unknown) => bus.publish(event as never);
      await act(
        textOf(userMessage),
        taskId,
        task === undefined,
        {
          task: ({ status }: any) =>
            send({
              kind: "task",
              id: taskId,
              contextId,
              history: [userMessage],
              status: { state: OLD_STATES[status.state], timestamp: status.timestamp },
            }),
          status: (state, text, metadata) =>
            send({
              kind: "status-update",
              ...ids,
              final: !["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"].includes(state),
              status: {
                state: OLD_STATES[state],
                timestamp: now(),
                ...(text === undefined
                  ? {}
                  : {
                      message: { kind: "message", messageId: crypto.randomUUID(), role: "agent", parts: [{ kind: "text", text }], ...ids },
                    }),
              },
              ...(metadata === undefined ? {} : { metadata }),
            }),
          artifact: (value: any, rest = {}) =>
            send({ kind: "artifact-update", ...ids, artifact: { ...value, parts: value.parts.map(part) }, ...rest }),
          message: (text) =>
            send({ kind: "message", messageId: crypto.randomUUID(), role: "agent", contextId, parts: [{ kind: "text", text }] }),
          data: (value) => send({ kind: "artifact-update", ...ids, artifact: { artifactId: "data", parts: [part({ data: value })] } }),
        },
        holds,
      );
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      holds.cancelled.add(taskId);
      bus.publish({ kind: "status-update", taskId, contextId: "", final: true, status: { state: "canceled", timestamp: now() } } as never);
      bus.finished();
    },
  };
}

export async function startAgent(version: "1.0" | "0.3" = "1.0", binding: "HTTP+JSON" | "JSONRPC" = "HTTP+JSON"): Promise<AgentFixture> {
  const app = express();
  const requests: AgentFixture["requests"] = [];
  const holds = new Holds();
  let change: Record<string, unknown> = {};
  let url = "";
  app.use(express.json({ type: ["application/json", "application/a2a+json"] }));
  app.use((request: any, _response: any, next: () => void) => {
    requests.push({ path: request.path, headers: request.headers, body: request.body });
    next();
  });
  const base = {
    name: "Fixture",
    description: "An agent for tests.",
    version: "1.0.0",
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: SKILLS,
  };
  if (version === "1.0") {
    const card = () => ({
      ...base,
      supportedInterfaces: [
        { url: binding === "JSONRPC" ? `${url}/rpc` : `${url}/rest`, protocolBinding: binding, protocolVersion: "1.0" },
      ],
      ...change,
    });
    const requestHandler = new DefaultRequestHandler(AgentCard.fromJSON(card()), new InMemoryTaskStore(), new NewExecutor(holds));
    app.get("/.well-known/agent-card.json", (_request: any, response: any) => void response.json(card()));
    app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
    app.use("/rest", restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  } else {
    const card = () => ({ ...base, protocolVersion: "0.3.0", url: `${url}/rpc`, preferredTransport: "JSONRPC", ...change });
    const requestHandler = new OldRequestHandler(card() as never, new OldTaskStore(), oldExecutor(holds));
    app.get("/.well-known/agent-card.json", (_request: any, response: any) => void response.json(card()));
    app.use("/rpc", oldJsonRpcHandler({ requestHandler, userBuilder: OldUserBuilder.noAuthentication }));
  }
  const server = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    release: () => holds.now(),
    setCard: (next) => (change = next),
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
