import { expect, test } from "bun:test";
import { until } from "../../../tests/support/until.ts";
import { streamKeepAlive } from "./stream-keep-alive.ts";

const encoder = new TextEncoder();

/** A stream that has sent `pieces`, and the number of keep-alives since. */
function silentAfter(...pieces: string[]): { said: number; readonly stop: () => void } {
  const stream = { said: 0, stop: () => sign.stop() };
  const sign = streamKeepAlive(encoder.encode(": there\n"), () => stream.said++, [5, 5]);
  for (const piece of pieces) sign.told(encoder.encode(piece));
  return stream;
}

test("a silent stream sends keep-alives only between events", async () => {
  const whole = [[], ["data: 1\n\n"], ["data: 1\r\n\r\n"], ["data: 1\r\r"], ["data: 1", "\n\n"], [": there\n\n"]];
  const begun = ["data: 1", "data: 1\n", "data: 1\r\n", "data: 1\n\ndata: 2\n", "\n"];
  const [betweenEvents, withinEvent] = [whole.map((pieces) => silentAfter(...pieces)), begun.map((piece) => silentAfter(piece))];
  await until(
    () => betweenEvents.map(({ said }) => said),
    (counts) => counts.every((count) => count > 1),
  );
  expect(withinEvent.map(({ said }) => said)).toEqual(begun.map(() => 0));
  for (const { stop } of [...betweenEvents, ...withinEvent]) stop();
  const atStop = betweenEvents.map(({ said }) => said);
  await Bun.sleep(20);
  expect(betweenEvents.map(({ said }) => said)).toEqual(atStop);
});
