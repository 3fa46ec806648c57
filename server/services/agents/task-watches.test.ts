import { expect, test } from "bun:test";
import type { AgentTaskRow } from "../../directory/agents/tasks.ts";
import { TaskWatches } from "./task-watches.ts";

const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `task-${from + at}`);
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test("tasks whose agent reports no progress make room for tasks waiting to be watched", async () => {
  let now = 1_000_000;
  let waiting = ids(0, 300);
  const followed: string[] = [];
  const agent = { id: "agent", enabled: true, reached: { streaming: true } };
  const tasks = {
    takeWatches: async (_until: number, { mostOfOne, underWay }: { mostOfOne: number; underWay: ReadonlyMap<string, number> }) => {
      const free = mostOfOne - (underWay.get("t") ?? 0);
      const taken = waiting.slice(0, free);
      waiting = waiting.slice(free);
      return taken.map(
        (id) =>
          ({
            tenant_id: "t",
            agent_id: "agent",
            id,
            resource_group_id: "g",
            task: null,
            updated_at: new Date(0),
          }) as unknown as AgentTaskRow,
      );
    },
    keepWatch: async () => undefined,
  };
  const upstream = {
    ask: async () => Promise.reject(new Error("nobody asks of a task that gives way")),
    stream: async ({ params, abort }: { params: { id?: unknown }; abort: AbortController }) => {
      followed.push(String(params.id));
      return (async function* () {
        await new Promise<void>((resolve) => abort.signal.addEventListener("abort", () => resolve()));
        yield* [];
        return null;
      })();
    },
  };
  const watches = new TaskWatches({
    tasks,
    upstream,
    hasAccessNow: async () => true,
    snapshots: { tenant: async () => ({ enabled: true, agents: { byId: new Map([["agent", agent]]) } }), scope: async () => ({}) },
    gates: { inspects: () => false },
    clock: { now: () => now, micros: () => now * 1000 },
    log: { warn: (event: string, details: object) => expect([event, details]).toEqual([]) },
  } as unknown as ConstructorParameters<typeof TaskWatches>[0]);
  await watches.poll();
  await settled();
  expect(followed).toEqual(ids(0, 200));
  await watches.poll();
  await settled();
  expect(followed.length).toBe(200);
  now += 60_000;
  await watches.poll();
  await settled();
  await watches.poll();
  await settled();
  expect(followed).toEqual(ids(0, 300));
  watches.close();
});

test("a stream that brought artifacts or was left by the gateway is joined again soon; other tasks wait longer with age", async () => {
  const HOUR_MS = 3_600_000;
  const WORKING = { kind: "task", value: { id: "one", status: { state: "TASK_STATE_WORKING" } } };
  const pauseAfter = async (reported: readonly object[], isLeft = false) => {
    const paused = Promise.withResolvers<number>();
    const row = {
      ...{ tenant_id: "t", agent_id: "agent", id: "one", owner_id: "o", context_id: "c", resource_group_id: "g", task: null },
      ...{ state: "TASK_STATE_WORKING", status_at: new Date(0), updated_at: new Date(0) },
    };
    const agent = { id: "agent", enabled: true, reached: { streaming: true } };
    const watches = new TaskWatches({
      tasks: {
        takeWatches: async () => [row],
        keepWatch: async (_row: object, ms: number) => paused.resolve(ms),
        find: async () => row,
        put: async () => undefined,
        queueNotifications: async () => undefined,
      },
      upstream: {
        ask: async () => ({ code: "agent_task_not_found", message: "it is none of the agent's" }),
        stream: async () =>
          (async function* () {
            yield* reported;
            if (isLeft) watches.close();
            return null;
          })(),
      },
      hasAccessNow: async () => true,
      snapshots: {
        tenant: async () => ({ enabled: true, storeBodies: "none", agents: { byId: new Map([["agent", agent]]) } }),
        scope: async () => ({}),
      },
      gates: { inspects: () => false },
      clock: { now: () => HOUR_MS, micros: () => HOUR_MS * 1000 },
      log: { warn: (event: string, details: object) => expect([event, details]).toEqual([]) },
    } as unknown as ConstructorParameters<typeof TaskWatches>[0]);
    await watches.poll();
    return paused.promise;
  };
  const artifact = { kind: "artifactUpdate", value: { taskId: "one", artifact: { artifactId: "a", parts: [{ text: "some" }] } } };
  expect(await pauseAfter([structuredClone(WORKING), artifact])).toBe(2_000);
  expect(await pauseAfter([structuredClone(WORKING)], true)).toBe(2_000);
  expect(await pauseAfter([structuredClone(WORKING)])).toBe(60_000);
});

const SAID = [
  { kind: "artifactUpdate", value: { taskId: "one", artifact: { artifactId: "a", parts: [{ text: "secret" }] } } },
  { kind: "statusUpdate", value: { taskId: "one", status: { state: "TASK_STATE_COMPLETED" } } },
];

/** Watches one task whose agent sends `reported`, by default an artifact and completion. Returns what was stored. */
async function watched({
  storeBodies,
  isThere,
  reported = SAID,
  inspects = () => false,
  queueNotifications = async () => undefined,
}: {
  readonly storeBodies: string;
  readonly isThere: boolean;
  readonly reported?: readonly object[];
  readonly inspects?: () => boolean;
  readonly queueNotifications?: (
    task: object,
    reported: object | null,
    bodies: (version: string) => { readonly whole: string },
  ) => Promise<void>;
}) {
  const written: { readonly state: string; readonly task: string | null }[] = [];
  const over = Promise.withResolvers<void>();
  let taken = false;
  const row = {
    tenant_id: "t",
    agent_id: "agent",
    id: "one",
    owner_id: "o",
    context_id: "c",
    resource_group_id: "g",
    task: null,
    updated_at: new Date(0),
  };
  const watches = new TaskWatches({
    tasks: {
      takeWatches: async () => (taken ? [] : ((taken = true), [row])),
      keepWatch: async () => over.resolve(),
      find: async () => (isThere ? row : undefined),
      put: async (one: (typeof written)[number]) => written.push({ state: one.state, task: one.task }),
      queueNotifications,
    },
    upstream: {
      ask: async () => ({ code: "agent_task_not_found", message: "it is none of the agent's" }),
      stream: async () =>
        (async function* () {
          yield* reported;
          return null;
        })(),
    },
    hasAccessNow: async () => true,
    snapshots: {
      tenant: async () => ({
        enabled: true,
        storeBodies,
        agents: { byId: new Map([["agent", { id: "agent", enabled: true, reached: { streaming: true } }]]) },
      }),
      scope: async () => ({}),
    },
    gates: { inspects },
    clock: { now: () => 1_000_000, micros: () => 1_000_000_000 },
    log: { warn: (event: string, details: object) => expect([event, details]).toEqual([]) },
  } as unknown as ConstructorParameters<typeof TaskWatches>[0]);
  await watches.poll();
  await over.promise;
  watches.close();
  return written;
}

test("an agent's messages about a task are stored only if the tenant stores bodies", async () => {
  const [full] = await watched({ storeBodies: "full", isThere: true });
  expect([full?.state, full?.task?.includes("secret")]).toEqual(["TASK_STATE_COMPLETED", true]);
  expect(await watched({ storeBodies: "none", isThere: true })).toEqual([{ state: "TASK_STATE_COMPLETED", task: null }]);
});

test("once guardrails apply, notifications and the stored task have no text, even in a watch that began before", async () => {
  const notifications: string[] = [];
  let checks = 0;
  const [last] = await watched({
    storeBodies: "full",
    isThere: true,
    reported: [SAID[0] as object, ...SAID],
    // The first two checks are made when the watch begins and for the first event.
    inspects: () => ++checks > 2,
    queueNotifications: async (_task, _told, bodies) => void notifications.push(bodies("1.0").whole),
  });
  expect(notifications.map((one) => one.includes("secret"))).toEqual([true, false, false]);
  expect([last?.state, last?.task]).toEqual(["TASK_STATE_COMPLETED", null]);
});

test("a task erased while it is watched is not written again", async () => {
  expect(await watched({ storeBodies: "full", isThere: false })).toEqual([]);
});

test("a task with many messages is written per state, not per message", async () => {
  const status = (state: string, text: string) => ({
    kind: "statusUpdate",
    value: { taskId: "one", status: { state, message: { messageId: text, parts: [{ text }] } } },
  });
  const steps = Array.from({ length: 500 }, (_, at) => status("TASK_STATE_WORKING", `step ${at}`));
  for (const last of ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]) {
    const written = await watched({ storeBodies: "full", isThere: true, reported: [...steps, status(last, "the last")] });
    expect(written.length).toBeLessThan(20);
    const { state, task } = written.at(-1) ?? {};
    expect([state, JSON.parse(task ?? "{}").history.length, task?.includes("the last")]).toEqual([last, 500, true]);
  }
});

test("a waiting task is polled less often with age, and polling does not reset that age", async () => {
  const pauses: number[] = [];
  let now = 1_000_000;
  let puts = 0;
  const status = { state: "TASK_STATE_INPUT_REQUIRED", message: { messageId: "m", parts: [{ text: "Which one?" }] } };
  let row: object = {
    ...{ tenant_id: "t", agent_id: "agent", id: "one", owner_id: "o", context_id: "c", resource_group_id: "g", task: null },
    ...{ state: "TASK_STATE_WORKING", status_at: new Date(now), updated_at: new Date(now) },
  };
  let over = Promise.withResolvers<void>();
  const watches = new TaskWatches({
    tasks: {
      takeWatches: async () => [row],
      keepWatch: async (_row: object, ms: number) => {
        pauses.push(ms);
        over.resolve();
      },
      find: async () => row,
      put: async (one: object) => {
        puts++;
        row = one;
      },
      queueNotifications: async () => undefined,
    },
    upstream: { ask: async () => ({ kind: "task", value: { id: "one", status: structuredClone(status) } }) },
    hasAccessNow: async () => true,
    snapshots: {
      tenant: async () => ({
        enabled: true,
        storeBodies: "full",
        agents: { byId: new Map([["agent", { id: "agent", enabled: true, reached: { streaming: false } }]]) },
      }),
      scope: async () => ({}),
    },
    gates: { inspects: () => false },
    clock: { now: () => now, micros: () => now * 1000 },
    log: { warn: (event: string, details: object) => expect([event, details]).toEqual([]) },
  } as unknown as ConstructorParameters<typeof TaskWatches>[0]);
  for (const later of [0, 1_000, 100_000, 86_400_000]) {
    now += later;
    over = Promise.withResolvers<void>();
    await watches.poll();
    await over.promise;
  }
  watches.close();
  expect([puts, pauses]).toEqual([1, [2_000, 2_000, 10_100, 60_000]]);
});
