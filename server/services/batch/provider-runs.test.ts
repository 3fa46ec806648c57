import { expect, test } from "bun:test";
import { until } from "../../../tests/support/until.ts";
import { refuse } from "../../kernel/errors.ts";
import { jsonLog } from "../../kernel/log.ts";
import type { ProviderBatchStatus } from "../../upstreams/providers/provider-batches.ts";
import { ProviderRuns, type ProviderRunsParts } from "./provider-runs.ts";

/** A batch of a model unknown to this process, as stored in the database; records what is done with it. */
function runsOf(state: "ready" | "running") {
  const done: string[] = [];
  let now = 0;
  const submission = { id: "s", job_id: "j", tenant_id: "t", model_id: "m", state, job_status: "finalizing", job_error: "model_not_found" };
  const taken = [submission];
  const store = {
    active: async () => [{ id: "j", tenant_id: "t", mode: "provider", status: "finalizing" }],
    callsAway: async () => [],
    keepAlive: async () => {},
    withdraw: async () => {},
    toBundle: async () => [],
    takeSubmission: async () => taken.pop(),
    takeAnswered: async () => [],
    async closeSubmission(_: unknown, why: string) {
      done.push(`closed: ${why}`);
    },
    async noteSubmission(...[, id, , afterMs]: [string, string, object, number]) {
      done.push(`given back for ${afterMs} ms`);
      return id === "s";
    },
  } as unknown as ProviderRunsParts["store"];
  const runs = new ProviderRuns({
    ...{ store, batches: {}, models: { find: async () => null }, chain: "c", shipped: async () => {}, log: jsonLog("error") },
    ...{ finishLine: async () => null, jobFailure: async () => null, release: () => {}, now: () => now },
  });
  return {
    done,
    async look(at: number) {
      now = at;
      if (done.length > 0) taken.push(submission);
      await runs.poll();
      await new Promise((resolve) => setTimeout(resolve));
    },
    settled: () => runs.settled(),
  };
}

test("a running batch of a deleted model is left for ten minutes to processes that still know the model", async () => {
  const { done, look, settled } = runsOf("running");
  await look(0);
  await look(599_000);
  expect(done).toEqual(["given back for 1000 ms", "given back for 1000 ms"]);
  await look(600_000);
  await settled();
  expect(done.at(-1)).toBe("closed: model_not_found");
});

test("a batch that no provider has yet is closed at once when its model is deleted", async () => {
  const { done, look, settled } = runsOf("ready");
  await look(0);
  await settled();
  expect(done).toEqual(["closed: model_not_found"]);
});

/** A batch to be submitted to a provider that gives these answers and then reports these standings; records what is done with it. */
function handedTo(answers: readonly ("busy" | "later" | "taken")[], standings: readonly ProviderBatchStatus[] = []) {
  const done: string[] = [];
  const submission = { id: "s", job_id: "j", tenant_id: "t", model_id: "m", operation: "chat", state: "ready", job_status: "in_progress" };
  const taken = { ...submission, job_error: null, attempts: 0, looks: 0 };
  let given = false;
  const store = {
    active: async () => [{ id: "j", tenant_id: "t", mode: "provider", status: "in_progress" }],
    ...{ callsAway: async () => [], keepAlive: async () => {}, withdraw: async () => {}, toBundle: async () => [] },
    ...{ takeAnswered: async () => [], linesToSend: async () => [{ line: 1, sent: "{}" }], read: async () => undefined },
    async forgetSent() {
      done.push("forgot what was sent");
    },
    async takeSubmission() {
      if (given) return undefined;
      given = true;
      taken.looks++;
      return { ...taken };
    },
    async closeSubmission(_: unknown, why: string) {
      done.push(`closed: ${why}`);
    },
    async explain(_: string, error: { code: string } | null) {
      done.push(`explained: ${error?.code ?? "no more"}`);
    },
    async noteSubmission(...[, , change, afterMs]: [string, string, object, number | null]) {
      Object.assign(taken, change);
      if (afterMs !== null) done.push(`${taken.state}, again after ${Math.round(afterMs / 1000)} s`);
      return true;
    },
  } as unknown as ProviderRunsParts["store"];
  const left = [...answers];
  const send = async () => {
    const kind = left.shift() ?? "taken";
    return kind === "taken" ? { kind, id: "b" } : { kind, refusal: refuse("upstream_overloaded") };
  };
  const reports = [...standings];
  const readStatus = async () => reports.shift() ?? { kind: "running" };
  const model = { provider: { apiFormat: "openai" }, modelName: "m" };
  const runs = new ProviderRuns({
    ...{ store, batches: { openai: { send, readStatus } } as unknown as ProviderRunsParts["batches"], chain: "c", shipped: async () => {} },
    ...{ models: { find: async () => model as never }, finishLine: async () => null, jobFailure: async () => null, release: () => {} },
    ...{ now: () => 0, log: jsonLog("error") },
  });
  return {
    ...{ done, attempts: () => taken.attempts },
    async look() {
      given = false;
      await runs.poll();
      await new Promise((resolve) => setTimeout(resolve));
    },
    settled: () => runs.settled(),
  };
}

test("a provider that is busy is retried for as long as the job may take, at growing intervals", async () => {
  const { done, look, attempts, settled } = handedTo(Array.from({ length: 100 }, () => "busy" as const));
  for (let i = 0; i < 100; i++) await look();
  expect(done.filter((what) => what.startsWith("closed"))).toEqual([]);
  expect(done.slice(0, 2)).toEqual(["explained: upstream_overloaded", "ready, again after 2 s"]);
  expect(done.at(-1)).toBe("ready, again after 600 s");
  expect(attempts()).toBe(0);
  await look();
  expect(done.at(-1)).toBe("running, again after 1 s");
  await look();
  expect(done.slice(-3, -1)).toEqual(["forgot what was sent", "explained: no more"]);
  await settled();
});

test("a batch that the provider accepted and then rejected as over its limit is submitted again", async () => {
  const { done, look, attempts, settled } = handedTo(["taken", "taken"], [{ kind: "running", unchecked: true }, { kind: "full" }]);
  for (let i = 0; i < 5; i++) await look();
  await settled();
  expect(done).toEqual([
    "running, again after 1 s",
    "running, again after 2 s",
    "explained: upstream_overloaded",
    "ready, again after 3 s",
    "running, again after 1 s",
    "forgot what was sent",
    "explained: no more",
    "running, again after 8 s",
  ]);
  expect(attempts()).toBe(1);
});

test("a batch whose provider is unreachable is closed after a while", async () => {
  const { done, look, settled } = handedTo(Array.from({ length: 20 }, () => "later" as const));
  for (let i = 0; i < 20; i++) await look();
  await settled();
  expect(done.at(-1)).toBe("closed: upstream_overloaded");
});

test("batches are polled while answers take long to deliver", async () => {
  const [full, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [takes, line, begun] = [0, 0, 0];
  const store = {
    active: async () => [{ id: "j", tenant_id: "t", mode: "provider", status: "in_progress" }],
    ...{ callsAway: async () => [], keepAlive: async () => {}, withdraw: async () => {}, toBundle: async () => [] },
    ...{ read: async () => ({ id: "j" }), returnAnswered: async () => {}, takeSubmission: async () => void takes++ },
    takeAnswered: async () =>
      Array.from({ length: 8 }, () => ({ line: line++, attempt: 1, call_id: "c", chain_before: null, unanswered: null })),
  } as unknown as ProviderRunsParts["store"];
  const runs = new ProviderRuns({
    ...{ store, batches: {}, models: { find: async () => null }, chain: "c", shipped: async () => {}, log: jsonLog("error") },
    ...{ jobFailure: async () => null, release: () => {}, now: () => 0 },
    async finishLine() {
      if (++begun === 16) full.resolve();
      await held.promise;
      return null;
    },
  });
  const polled = runs.poll().then(() => "looked");
  const waits = full.promise.then(() => new Promise((resolve) => setTimeout(resolve))).then(() => "waits");
  expect(await Promise.race([polled, waits])).toBe("looked");
  await full.promise;
  await runs.poll();
  expect(takes).toBe(2);
  held.resolve();
  await runs.settled();
});

test("a tenant whose provider answers slowly leaves room for other tenants' batches", async () => {
  const waiting = [...Array.from({ length: 20 }, (_, i) => ({ id: `slow${i}`, tenant_id: "slow" })), { id: "quick", tenant_id: "quick" }];
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const seen: string[] = [];
  const store = {
    active: async () => [{ id: "j", tenant_id: "slow", mode: "provider", status: "in_progress" }],
    ...{ callsAway: async () => [], keepAlive: async () => {}, withdraw: async () => {}, toBundle: async () => [] },
    ...{ takeAnswered: async () => [], read: async () => undefined, forgetSent: async () => {}, explain: async () => {} },
    async takeSubmission(_owner: string, _seconds: number, busy: readonly string[] = []) {
      const at = waiting.findIndex(({ tenant_id: tenantId }) => !busy.includes(tenantId));
      const [taken] = at < 0 ? [] : waiting.splice(at, 1);
      return (
        taken && { ...taken, job_id: "j", model_id: "m", state: "running", job_status: "in_progress", provider_batch: taken.id, looks: 1 }
      );
    },
    async noteSubmission(_: string, id: string) {
      if (id === "quick") asked.resolve();
      return true;
    },
  } as unknown as ProviderRunsParts["store"];
  const readStatus = async (_target: unknown, id: string) => {
    seen.push(id);
    if (id !== "quick") await answered.promise;
    return { kind: "running" };
  };
  const model = { provider: { apiFormat: "openai" }, modelName: "m" };
  const runs = new ProviderRuns({
    ...{ store, batches: { openai: { readStatus } } as unknown as ProviderRunsParts["batches"], chain: "c", shipped: async () => {} },
    ...{ models: { find: async () => model as never }, finishLine: async () => null, jobFailure: async () => null, release: () => {} },
    ...{ now: () => 0, log: jsonLog("error") },
  });
  await runs.poll();
  await asked.promise;
  await runs.poll();
  expect(seen).toEqual(["slow0", "slow1", "quick"]);
  answered.resolve();
  await until(
    () => runs.poll(),
    () => seen.length === 21,
  );
  await runs.settled();
});
