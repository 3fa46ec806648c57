import { expect, test } from "bun:test";
import { until } from "../../../tests/support/until.ts";
import type { JobToRun } from "../../directory/batch/batch-store.ts";
import { jsonLog } from "../../kernel/log.ts";
import { AnswerDelivery, type AnswerDeliveryParts } from "./answer-delivery.ts";

type Finish = AnswerDeliveryParts["finishLine"];
const job = (id: string) => ({ id, tenant_id: "t", mode: "provider", status: "in_progress" }) as JobToRun;
const answer = { id: "c", status: 200, body: "{}", errorType: null, errorMessage: null, admitted: true, interrupted: false, refusal: null };

/** A store of jobs with the given number of answered lines each; its methods fail as `faults` says. */
function givingTo(lines: Readonly<Record<string, number>>, finishLine: Finish = async () => answer) {
  const states = new Map(
    Object.entries(lines).flatMap(([id, count]) => Array.from({ length: count }, (_, n) => [`${id} ${n}`, "answered"])),
  );
  const faults: Partial<Record<"takeAnswered" | "read" | "returnAnswered", number>> = {};
  const takes: string[] = [];
  const failing = (of: keyof typeof faults) => {
    const left = faults[of] ?? 0;
    faults[of] = left - 1;
    if (left > 0) throw new Error("the connection was lost");
  };
  const store = {
    async takeAnswered({ id }: { id: string }, _owner: string, _chain: string, most: number) {
      takes.push(id);
      const keys = [...states.keys()].filter((key) => key.startsWith(`${id} `) && states.get(key) === "answered").slice(0, most);
      for (const key of keys) states.set(key, "with the process");
      failing("takeAnswered");
      return keys.map((key) => ({ line: Number(key.split(" ")[1]), attempt: 1, call_id: key, chain_before: null, unanswered: null }));
    },
    async read(id: string) {
      failing("read");
      return { id };
    },
    async returnAnswered(_: string, id: string, line: number) {
      failing("returnAnswered");
      states.set(`${id} ${line}`, "answered");
    },
    async returnUndelivered(_: string, inHand: readonly string[]) {
      for (const [key, state] of states) if (state === "with the process" && !inHand.includes(key)) states.set(key, "answered");
    },
    async writeOutcomes(_: string, outcomes: readonly { jobId: string; line: number }[]) {
      for (const { jobId, line } of outcomes) states.set(`${jobId} ${line}`, "given");
    },
  };
  const parts = { store, finishLine, chain: "c", shipped: async () => {}, log: { ...jsonLog("error"), error: () => {} } };
  const stopping = new AbortController();
  const giver = new AnswerDelivery(parts as unknown as AnswerDeliveryParts, "p", stopping.signal);
  return {
    giver,
    states,
    takes,
    faults,
    stop: () => stopping.abort(),
    given: () => [...states.values()].filter((state) => state === "given"),
  };
}

test.each(["takeAnswered", "read", "returnAnswered"] as const)(
  "a line that no process holds after a fault in %s is returned to the queue",
  async (fault) => {
    let isRecording = fault !== "returnAnswered";
    const { giver, faults, given } = givingTo({ j: 3 }, async () => (isRecording ? answer : null));
    faults[fault] = 1;
    giver.begin([job("j")]);
    await until(
      () => giver.busy,
      (busy) => !busy,
    );
    expect(given()).toEqual([]);
    isRecording = true;
    giver.begin([job("j")]);
    await giver.settled();
    expect(given()).toHaveLength(3);
  },
);

test("an answer that is being delivered is not delivered twice when another line is returned", async () => {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const finished: string[] = [];
  const { giver, faults, given } = givingTo({ slow: 1, j: 1 }, async ({ id }: { id: string }) => {
    finished.push(id);
    begun.resolve();
    if (id === "slow") await held.promise;
    return answer;
  });
  giver.begin([job("slow")]);
  await begun.promise;
  faults.read = 1;
  const jobs = [job("slow"), job("j")];
  await until(
    () => giver.begin([...jobs]),
    () => given().length === 1,
  );
  held.resolve();
  await giver.settled();
  expect(finished).toEqual(["slow", "j"]);
  expect(given()).toHaveLength(2);
});

test("while calls cannot be recorded, each answer is tried at most once per poll, and other jobs' answers are delivered", async () => {
  let tries = 0;
  const { giver, stop, given } = givingTo({ stalled: 40, j: 20 }, async ({ id }: { id: string }) => {
    if (id !== "stalled") return answer;
    await new Promise((resolve) => setTimeout(resolve));
    if (++tries === 800) stop();
    return null;
  });
  giver.begin([job("stalled"), job("j")]);
  await giver.settled();
  expect(given()).toHaveLength(20);
  expect(tries).toBeLessThanOrEqual(40);
});

test("a new job need not wait until all answers of a long job are delivered", async () => {
  let long = 0;
  const { giver, takes } = givingTo({ long: 400, short: 1 }, async ({ id }: { id: string }) => {
    if (id === "long" && ++long === 8) giver.begin([job("long"), job("short")]);
    return answer;
  });
  giver.begin([job("long")]);
  await giver.settled();
  expect(takes.indexOf("short")).toBeLessThan(5);
});
