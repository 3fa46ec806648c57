import { expect, test } from "bun:test";
import { signOfLife } from "./sign-of-life.ts";

const encoder = new TextEncoder();

/** How often a stream that has given `pieces` says that it is there, while it is silent for some time. */
async function saidBehind(...pieces: string[]): Promise<number> {
  let said = 0;
  const sign = signOfLife(encoder.encode(": there\n\n"), () => said++, [5, 5]);
  for (const piece of pieces) sign.told(encoder.encode(piece));
  await Bun.sleep(60);
  sign.stop();
  const atStop = said;
  await Bun.sleep(20);
  expect(said).toBe(atStop);
  return said;
}

test("a silent stream says that it is there wherever no event has begun, and only there", async () => {
  for (const whole of [[], ["data: 1\n\n"], ["data: 1\r\n\r\n"], ["data: 1\r\r"], ["data: 1", "\n\n"], [": there\n\n"]])
    expect(await saidBehind(...whole)).toBeGreaterThan(1);
  for (const begun of ["data: 1", "data: 1\n", "data: 1\r\n", "data: 1\n\ndata: 2\n", "\n"]) expect(await saidBehind(begun)).toBe(0);
});
