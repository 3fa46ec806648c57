import { expect, test } from "bun:test";
import { type AskSubscription, type ResourceSubscriptions, subscribe, unsubscribe } from "./resource-subscriptions.ts";

const URI = "test://note";

/** A server whose answers are sent by hand. */
function slowServer() {
  const asked: string[] = [];
  const waiting: ((taken: boolean) => void)[] = [];
  const ask: AskSubscription = (method) => {
    asked.push(method.slice("resources/".length));
    return new Promise((resolve) => waiting.push(resolve));
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const answer = async (taken = true) => {
    await settled();
    waiting.shift()?.(taken);
    await settled();
  };
  return { asked, ask, answer, settled, subscriptions: new Map() as ResourceSubscriptions };
}

test("concurrent subscribers share one request, and the last to leave unsubscribes", async () => {
  const { asked, ask, answer, settled, subscriptions } = slowServer();
  const both = [subscribe(subscriptions, URI, ask), subscribe(subscriptions, URI, ask)];
  await answer();
  expect(await Promise.all(both)).toEqual([true, true]);
  unsubscribe(subscriptions, URI, ask);
  await settled();
  expect(asked).toEqual(["subscribe"]);
  unsubscribe(subscriptions, URI, ask);
  await answer();
  expect(asked).toEqual(["subscribe", "unsubscribe"]);
  expect(subscriptions.size).toBe(0);
});

test("a subscriber that comes during an unsubscription is subscribed after it", async () => {
  const { asked, ask, answer, subscriptions } = slowServer();
  void subscribe(subscriptions, URI, ask);
  await answer();
  unsubscribe(subscriptions, URI, ask);
  await Promise.resolve();
  await Promise.resolve();
  const again = subscribe(subscriptions, URI, ask);
  expect(asked).toEqual(["subscribe", "unsubscribe"]);
  await answer();
  expect(asked).toEqual(["subscribe", "unsubscribe", "subscribe"]);
  await answer();
  expect(await again).toBe(true);
  expect(subscriptions.size).toBe(1);
});

test("a refused subscription is tried again by the next subscriber, and not unsubscribed", async () => {
  const { asked, ask, answer, subscriptions } = slowServer();
  const refused = subscribe(subscriptions, URI, ask);
  await answer(false);
  expect(await refused).toBe(false);
  unsubscribe(subscriptions, URI, ask);
  const next = subscribe(subscriptions, URI, ask);
  await answer();
  expect(await next).toBe(true);
  expect(asked).toEqual(["subscribe", "subscribe"]);
});
