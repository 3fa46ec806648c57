import { expect, test } from "bun:test";
import { ownThread, threadTime } from "./thread-time.ts";

test.skipIf(process.platform !== "linux")("the processor time of a thread includes work, but not waiting", async () => {
  const thread = ownThread() ?? "";
  const time = () => threadTime(thread) ?? Number.NaN;
  const before = time();
  while (time() - before < 50);
  await Bun.sleep(500);
  expect(time() - before).toBeLessThan(500);
  expect(threadTime("0")).toBeNull();
});
