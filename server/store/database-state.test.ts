import { expect, test } from "bun:test";
import { boundedAnswer } from "./database-state.ts";

test("a database that is silent is told of in time, by one question for all who ask, until it answers", async () => {
  const questions: ((answer: string | null) => void)[] = [];
  const answer = boundedAnswer(() => new Promise((resolve) => questions.push(resolve)), 10);
  const silent = "the database does not answer in time";
  expect(await Promise.all([answer(), answer()])).toEqual([silent, silent]);
  expect([await answer(), questions.length]).toEqual([silent, 1]);
  const late = answer();
  questions[0]?.(null);
  expect(await late).toBeNull();
  const next = answer();
  questions[1]?.("the database does not answer: gone");
  expect([await next, questions.length]).toEqual(["the database does not answer: gone", 2]);
});
