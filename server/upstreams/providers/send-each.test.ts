import { expect, test } from "bun:test";
import { refuse } from "../../kernel/errors.ts";
import { sendEach } from "./send-each.ts";

const bodies = Array.from({ length: 6 }, (_, n) => JSON.stringify({ n }));
/** Answers all but the given ones. */
const answering = (failing: readonly number[]) => async (body: string) => {
  const { n } = JSON.parse(body) as { n: number };
  return { response: failing.includes(n) ? new Response("{}", { status: 429 }) : Response.json({ n }), requestId: `r${n}` };
};

test("the first failed request of several is returned, together with the responses before it", async () => {
  const sent = await sendEach(bodies, 5_000, answering([2, 3]));
  expect(sent.answers.map(({ body }) => body)).toEqual([{ n: 0 }, { n: 1 }]);
  expect(sent.failed).toMatchObject({ requestId: "r2" });
  const { failed } = await sendEach(bodies, 5_000, answering([0, 1, 2, 3]));
  expect(failed !== null && "response" in failed && [failed.response.status, await failed.response.text()]).toEqual([429, "{}"]);
  expect(await sendEach(bodies, 5_000, async () => refuse("upstream_unreachable"))).toMatchObject({
    answers: [],
    failed: { code: "upstream_unreachable" },
  });
});

test("responses that arrived next to or after a failed request are kept", async () => {
  const { answers, failed } = await sendEach(bodies, 5_000, answering([1, 5]));
  expect(answers.map(({ body }) => body)).toEqual([{ n: 0 }, { n: 2 }, { n: 3 }]);
  expect(failed).toMatchObject({ requestId: "r1" });
  expect((await sendEach(bodies, 5_000, answering([]))).failed).toBeNull();
});

test("responses beyond the byte limit are reduced to what is billed, and no further requests are sent", async () => {
  const asked: number[] = [];
  const sendOne = async (body: string) => {
    const { n } = JSON.parse(body) as { n: number };
    asked.push(n);
    return { response: Response.json({ n, picture: "x".repeat(80) }), requestId: null };
  };
  const { answers, failed } = await sendEach(bodies, 5_000, sendOne, { mostBytes: 250, billed: ({ n = null }) => ({ n }) });
  expect(answers.map(({ body }) => Object.keys(body))).toEqual([["n", "picture"], ["n", "picture"], ["n"], ["n"]]);
  expect({ asked, failed }).toEqual({ asked: [0, 1, 2, 3], failed: null });
});
