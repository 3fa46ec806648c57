/** The subscription to one resource in a session, shared by all listeners. */
export interface ResourceSubscription {
  listeners: number;
  /** Whether the server sends updates; resolves after all requests so far were answered. */
  told: Promise<boolean>;
}

export type ResourceSubscriptions = Map<string, ResourceSubscription>;

/** Sends the request. Resolves to whether the server accepted it; never rejects. */
export type AskSubscription = (method: "resources/subscribe" | "resources/unsubscribe", uri: string) => Promise<boolean>;

/** Adds a listener; the first one subscribes at the server. Resolves to whether the server sends updates of the resource. */
export function subscribe(subscriptions: ResourceSubscriptions, uri: string, ask: AskSubscription): Promise<boolean> {
  const there = subscriptions.get(uri) ?? { listeners: 0, told: Promise.resolve(false) };
  subscriptions.set(uri, there);
  // Requests are serialized, because a server may process concurrent ones out of order.
  if (++there.listeners === 1) there.told = there.told.then(() => ask("resources/subscribe", uri));
  return there.told;
}

/** Removes a listener; the last one unsubscribes at the server. Call it exactly once per `subscribe`. */
export function unsubscribe(subscriptions: ResourceSubscriptions, uri: string, ask: AskSubscription): void {
  const there = subscriptions.get(uri);
  if (there === undefined || --there.listeners > 0) return;
  const ended = there.told.then(async (told) => {
    // Another listener may have been added before the server answered.
    if (told && there.listeners === 0) await ask("resources/unsubscribe", uri);
    return false;
  });
  there.told = ended;
  void ended.then(() => {
    if (there.told === ended) subscriptions.delete(uri);
  });
}
