import { expect, test } from "bun:test";
import { isRefusal, refuse } from "../../kernel/errors.ts";
import { sendEach } from "./send-each.ts";

const bodies = Array.from({ length: 6 }, (_, n) => ({ n }));
/** Answers all but those named. */
const answering = (failing: readonly number[]) => async (body: string) => {
  const { n } = JSON.parse(body) as { n: number };
  return { response: failing.includes(n) ? new Response("{}", { status: 429 }) : Response.json({ n }), requestId: `r${n}` };
};

test("of several calls the first that fails is the answer", async () => {
  const sent = await sendEach(bodies, 5_000, answering([4]));
  expect("response" in sent && sent.response.status).toBe(429);
});

test("where what was made is billed, what was answered is kept beside a call that failed", async () => {
  const kept = await sendEach(bodies, 5_000, answering([2]), true);
  expect("answers" in kept && kept.answers.map(({ body }) => body)).toEqual([{ n: 0 }, { n: 1 }, { n: 3 }]);
  const none = await sendEach(bodies, 5_000, answering([0, 1, 2, 3]), true);
  expect("response" in none && [none.response.status, await none.response.text()]).toEqual([429, "{}"]);
  const refused = await sendEach(bodies, 5_000, async () => refuse("upstream_unreachable"), true);
  expect(isRefusal(refused)).toBe(true);
});
