import { expect, test } from "bun:test";
import { jsonLog } from "../../kernel/log.ts";
import { ProviderRuns, type ProviderRunsParts } from "./provider-runs.ts";

/** A batch of a model that this process does not know, as it stands in the database; what was done with it is noted. */
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
    ...{ give: async () => null, over: async () => null, release: () => {}, now: () => now },
  });
  return {
    done,
    async look(at: number) {
      now = at;
      if (done.length > 0) taken.push(submission);
      await runs.look();
      await new Promise((resolve) => setTimeout(resolve));
    },
    settled: () => runs.settled(),
  };
}

test("a batch that a provider has of a model deleted before is left to processes that know it, for ten minutes", async () => {
  const { done, look, settled } = runsOf("running");
  await look(0);
  await look(599_000);
  expect(done).toEqual(["given back for 1000 ms", "given back for 1000 ms"]);
  await look(600_000);
  await settled();
  expect(done.at(-1)).toBe("closed: model_not_found");
});

test("what no provider has is given up at once", async () => {
  const { done, look, settled } = runsOf("ready");
  await look(0);
  await settled();
  expect(done).toEqual(["closed: model_not_found"]);
});
