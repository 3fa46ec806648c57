import { expect, test } from "bun:test";
import type { LineResult } from "../../directory/batch/batch-store.ts";
import { jsonLog } from "../../kernel/log.ts";
import { OutcomeWriter } from "./outcome-writer.ts";

const MI = 1024 * 1024;

test("large results are written in small batches of at least one", async () => {
  const written: number[][] = [];
  const store = {
    async writeOutcomes(_: string, outcomes: readonly LineResult[]) {
      written.push(outcomes.map(({ line }) => line));
    },
  };
  const writer = new OutcomeWriter(store, "p", jsonLog("error"));
  const sizes = [1, 3 * MI, MI, MI, 9 * MI, 9 * MI, 1];
  const outcome = (line: number, size: number): LineResult => ({
    ...{ jobId: "j", line, attempt: 1, statusCode: 200, requestId: "r", result: "x".repeat(size), error: null },
  });
  await Promise.all(sizes.map((size, line) => writer.write(outcome(line, size))));
  expect(written).toEqual([[0], [1, 2], [3], [4], [5], [6]]);
});

test("small results are written together", async () => {
  const written: number[] = [];
  const store = {
    async writeOutcomes(_: string, outcomes: readonly LineResult[]) {
      written.push(outcomes.length);
    },
  };
  const writer = new OutcomeWriter(store, "p", jsonLog("error"));
  const outcome = { jobId: "j", attempt: 1, statusCode: null, requestId: "r", result: null, error: null };
  await Promise.all(Array.from({ length: 450 }, (_, line) => writer.write({ ...outcome, line })));
  expect(written).toEqual([1, 200, 200, 49]);
});

test("a provider's error with characters that the database cannot store is cleaned and written", async () => {
  const messages: string[] = [];
  const store = {
    async writeOutcomes(_: string, outcomes: readonly LineResult[]) {
      for (const { error } of outcomes) messages.push(error?.message ?? "none");
    },
  };
  const writer = new OutcomeWriter(store, "p", jsonLog("error"));
  const outcome = { jobId: "j", attempt: 1, statusCode: 502, requestId: "r", result: null };
  await writer.write({ ...outcome, line: 1, error: { code: "upstream_error", message: "x\0y\ud800" } });
  expect(messages).toEqual(["x\ufffdy\ufffd"]);
});
